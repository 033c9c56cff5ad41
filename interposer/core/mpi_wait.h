// SPDX-License-Identifier: BSD-3-Clause
// Carries out the states of waits in another library (platform/waiting/wait_state.h) for threads that wait inside the
// MPI, for example in MPI_Recv, or test in a loop.
//
// Progress is inferred from the processor time that polls take. A rank with windows stays awake for longer.
//
// A rank of its node that sends to it, or works on its memory, rings it (core/wake.h); so does one that has waited
// itself for a while, as it may not know on whom.
//
// Either the MPI calls a function of ours at its looks (underneath/progress_hook.h), or the shim makes the looks
// itself, by the non-blocking form of the call and by testing.
//
// Thread safety: any thread; each has a wait of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/progress/under_way.h"
#include "platform/waiting/wait_state.h"
#include "platform/waiting/wake_board.h"

namespace hocket::interposer {

enum class Looks : uint8_t {
  kByMpi,    // the MPI waits as it does without hocket
  kByHook,   // it calls pause_in_mpi() at each
  kByTests,  // the shim looks
};

struct MpiWaitPolicy {
  Looks looks = Looks::kByMpi;
  platform::WaitPolicy wait{.spin_ns = 0, .library = {.is_polled = true}};
  // Called between looks, at least once in a while, of a thread that has waited for a tenth of a second; the MPI may
  // have called the hook.
  void (*long_wait)() = nullptr;
};

namespace internal {
// Written in MPI_Init and MPI_Finalize, which the program itself orders with its other calls.
inline constinit MpiWaitPolicy wait_policy;
}  // namespace internal

// One wait: call pause() after each poll that found nothing. `may_sleep` is false in test loops.
class MpiPause {
 public:
  void start() { has_started_ = false; }
  void pause(bool may_sleep = true) {
    if (!has_started_) begin();
    if (const platform::WaitStep step = state_.step(false); step != platform::WaitStep::kLook) act(step, may_sleep);
  }
  // The wait is over.
  void end() { rings_.end(); }

 private:
  void begin();
  void act(platform::WaitStep step, bool may_sleep);
  void observe(bool may_sleep);
  void sleep();
  bool has_moved_something();
  // Whether ranks that can't ring may access this rank's windows.
  bool has_silent_accessors() const;
  void ring_peers(int64_t waited_ns);

  platform::WaitState state_{internal::wait_policy.wait};
  bool has_started_ = false;
  platform::RingListener rings_;
  int64_t next_ring_ns_ = 0;  // from the beginning of the wait: when peers are rung next
  int64_t processor_ns_ = 0;  // of the thread when it was last asked
  uint32_t long_looks_ = 0;   // one after the other
};

namespace internal {
// Relaxed: as the policy.
inline std::atomic<Looks> looks{Looks::kByMpi};

// Tests in a row that found nothing, before a thread pauses: where it yields in its pauses, and otherwise.
inline constexpr uint32_t kTestsBeforeYields = 8, kTestsBeforePauses = 64;

struct ThreadsWait {
  uint32_t depth = 0;  // of calls in which this thread may wait
  uint32_t tests = 0;  // in a row that found nothing
  MpiPause pause, between_tests, scoped;
  bool is_scoped = false;
};
inline constinit thread_local ThreadsWait threads_wait __attribute__((tls_model("initial-exec")));
}  // namespace internal

// One that ends with its scope. The thread's outermost keeps what lasts from one wait to the next.
class ScopedPause {
 public:
  ScopedPause() : is_outermost_(!std::exchange(internal::threads_wait.is_scoped, true)) { used().start(); }
  ~ScopedPause() {
    used().end();
    if (is_outermost_) internal::threads_wait.is_scoped = false;
  }
  ScopedPause(const ScopedPause&) = delete;
  ScopedPause& operator=(const ScopedPause&) = delete;

  void pause() { used().pause(); }

 private:
  MpiPause& used() { return is_outermost_ ? internal::threads_wait.scoped : own_; }
  const bool is_outermost_;
  MpiPause own_;
};

// Between MPI_Init and MPI_Finalize.
void begin_mpi_waits(const MpiWaitPolicy& policy);
// The MPI yields by itself from now on.
inline void leave_yields_to_mpi() { internal::wait_policy.wait.library.yields = true; }
void end_mpi_waits();

inline bool yields_in_mpi() { return internal::wait_policy.wait.yields_in_library(); }

inline Looks looks() { return internal::looks.load(std::memory_order_relaxed); }
// Whether each rank has one, as far as is known in MPI_Init.
inline bool has_core_each() { return !internal::wait_policy.wait.oversubscribed; }

// The thread is in a call in which it may wait.
class MpiWait {
 public:
  MpiWait() {
    if (internal::threads_wait.depth++ == 0) internal::threads_wait.pause.start();
  }
  ~MpiWait() {
    if (--internal::threads_wait.depth == 0) internal::threads_wait.pause.end();
  }
  MpiWait(const MpiWait&) = delete;
  MpiWait& operator=(const MpiWait&) = delete;
};

// After a test, by whatever function, that found nothing: programs that test in a loop would keep the core from the
// ranks that they wait for. `found` ends a row of such tests.
inline void after_test(bool found) {
  internal::ThreadsWait& wait = internal::threads_wait;
  if (found) {
    wait.tests = 0;
    wait.between_tests.start();
    return;
  }
  const uint32_t tests = ++wait.tests;
  const uint32_t before = yields_in_mpi() ? internal::kTestsBeforeYields : internal::kTestsBeforePauses;
  if (tests > before) [[unlikely]]
    wait.between_tests.pause(false);
}

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
