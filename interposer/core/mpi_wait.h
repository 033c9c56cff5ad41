// SPDX-License-Identifier: BSD-3-Clause
// What a thread does while it waits inside the MPI, in MPI_Recv, say: where ranks share cores it yields between the
// MPI's looks, and when it has waited for long, and looks move nothing, it sleeps.
//
// That a look has moved something shows only in the processor time that it took. A rank that others may work on by
// one-sided calls waits longer before it sleeps.
//
// Who sends to a rank of its node that sleeps wakes it, once the whole job has met in a communicator.
//
// Either the MPI calls a function of ours at its looks (underneath/progress_hook.h), or the shim makes the looks
// itself, by the non-blocking form of the call and by testing.
//
// Thread safety: any thread; each has a wait of its own. Waking: one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/progress/under_way.h"
#include "hocket/hocket.h"

namespace hocket::interposer {

enum class Looks : uint8_t {
  kByMpi,    // the MPI waits as it does without hocket
  kByHook,   // it calls pause_in_mpi() at each
  kByTests,  // the shim looks
};

struct MpiWaitPolicy {
  Looks looks = Looks::kByMpi;
  bool tests_all = true;     // MPI_Testall ends where MPI_Waitall does: at the first error
  bool share_cores = false;  // ranks of the job do, somewhere
  bool yields = false;       // the thread is to yield at each look
  uint32_t looks_before_yield = 0;
  uint32_t looks_between_sleeps = 1;
  bool sleeps = true;         // and to sleep
  bool may_be_woken = false;  // one thread at a time, so that peers may wake it
  int64_t awake_ns = 0;       // for how long it stays awake first
  // Called between looks, at least once in a while, of a thread that has waited for a tenth of a second; the MPI may
  // have called the hook.
  void (*long_wait)() = nullptr;
};

// One wait: pause() comes after each look in vain.
class MpiPause {
 public:
  void start() { looks_ = 0; }
  void pause();

 private:
  void sleep_if_late();
  bool has_moved_something();

  uint32_t looks_ = 0;  // 0: before the first; those after belong to it
  bool sleeps_ = false;
  int64_t first_ns_ = 0;      // when this wait first read the clock
  int64_t began_ns_ = 0;      // the wait, or what came last
  int64_t processor_ns_ = 0;  // of the thread when it was last asked
  uint32_t long_looks_ = 0;   // one after the other
};

namespace internal {
// Written in MPI_Init and MPI_Finalize, which the program itself orders with its other calls.
inline MpiWaitPolicy wait_policy;
// How many ranks of the node sleep; nullptr before the whole job has met. By the one thread that calls the MPI.
inline const std::atomic<uint32_t>* sleepers = nullptr;
// Relaxed: as these.
inline std::atomic<Looks> looks{Looks::kByMpi};

struct ThreadsWait {
  uint32_t depth = 0;  // of calls in which this thread may wait
  MpiPause pause;
};
inline constinit thread_local ThreadsWait threads_wait __attribute__((tls_model("initial-exec")));
}  // namespace internal

// Between MPI_Init and MPI_Finalize.
void begin_mpi_waits(const MpiWaitPolicy& policy);
// The MPI yields by itself from now on.
inline void leave_yields_to_mpi() { internal::wait_policy.yields = false; }
void end_mpi_waits();

// Where ranks of a node sleep in the MPI from now on, and wake each other: the communicator of the whole job; nullptr:
// nowhere any more. Without effect with MPI_THREAD_MULTIPLE.
void set_wake_communicator(hocket_comm_t* job);
// Whether a rank of this node may sleep. Relaxed: a look that comes too early leaves the sleeper to the end of its
// time.
inline bool anyone_sleeps() {
  return internal::sleepers != nullptr && internal::sleepers->load(std::memory_order_relaxed) != 0;
}
void wake_in_world(int rank);

inline bool yields_in_mpi() { return internal::wait_policy.yields; }
inline bool may_test_all() { return internal::wait_policy.tests_all; }

inline Looks looks() { return internal::looks.load(std::memory_order_relaxed); }
// Whether each rank has one, as far as is known in MPI_Init.
inline bool has_core_each() { return !internal::wait_policy.share_cores; }

// The thread is in a call in which it may wait.
class MpiWait {
 public:
  MpiWait() {
    if (internal::threads_wait.depth++ == 0) internal::threads_wait.pause.start();
  }
  ~MpiWait() { --internal::threads_wait.depth; }
  MpiWait(const MpiWait&) = delete;
  MpiWait& operator=(const MpiWait&) = delete;
};

// A call that passes to the MPI, which waits. `pass_on`: the same where the MPI calls our hook.
template <typename PassThrough, typename PassOn>
int wait_in_mpi(const PassThrough& pass_through, const PassOn& pass_on) {
  if (looks() != Looks::kByHook) [[unlikely]]
    return pass_through();
  const MpiWait wait;
  return pass_on();
}
template <typename PassThrough>
int wait_in_mpi(const PassThrough& pass_through) {
  return wait_in_mpi(pass_through, pass_through);
}

// The MPI looks, in whatever thread and call.
inline void pause_in_mpi() {
  if (has_under_way()) [[unlikely]]
    advance_in_mpi();
  if (internal::threads_wait.depth != 0) internal::threads_wait.pause.pause();
}

}  // namespace hocket::interposer
