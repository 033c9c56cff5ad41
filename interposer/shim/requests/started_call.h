// SPDX-License-Identifier: BSD-3-Clause
// Collectives that have been started, from their beginning until the program has been told that they are over, and
// persistent ones from one start to the next. What the program holds is a request of its MPI: a persistent receive of
// nothing from the rank itself that is never started, which the MPI takes for inactive. (One from MPI_PROC_NULL Intel
// MPI takes for over in MPI_Waitany, each time.) So whatever a program or another library does with it beside waiting,
// testing, starting and freeing, which hocket catches, does no harm; and an inactive one of a persistent collective
// needs no more than the MPI's own answer.
//
// Thread safety: a request is used by one thread at a time, as MPI demands. The hidden receives are found without a
// lock, and kept for the next calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>

#include "c_api/internal/pending.h"
#include "core/awaited_progress.h"
#include "core/communicator.h"
#include "core/progress/under_way.h"
#include "shim/collectives/decision.h"
#include "shim/requests/copies.h"

namespace hocket::interposer {

struct StartedCall {
  enum class State : uint8_t {
    kSpare,
    kInactive,  // persistent
    kUnderWay,
    kSettled,  // over, and its result is in the program's memory
  };
  MPI_Request handle{};  // its own, for good
  // Relaxed: of the thread that has the request; others look whether there is something to settle for them.
  std::atomic<State> state{State::kSpare};
  bool is_persistent = false;
  bool has_failed = false;            // and the program has not been told
  std::atomic<bool> is_freed{false};  // by the program, before it was over
  Collective collective = Collective::kIbarrier;
  Communicator* communicator = nullptr;
  MPI_Comm comm{};
  hocket_request_t* request = nullptr;  // nullptr of one rank, where there is nothing but copies
  bool is_long = false;                 // worth a wake-up of the thread, of a persistent one
  int mpi_error = MPI_SUCCESS;          // to be returned when it is over
  // Of a persistent one of several ranks: where its track is.
  PersistentHome* home = nullptr;
  uint32_t track = 0;
  std::unique_ptr<Copies> copies;

  Copies& get_copies() {
    if (copies == nullptr) copies = std::make_unique<Copies>();
    return *copies;
  }
  bool has(State one) const { return state.load(std::memory_order_relaxed) == one; }
  // Started, and not completed by the program.
  bool is_active() const { return is_active(state.load(std::memory_order_relaxed)); }
  void set(State one);

 private:
  static bool is_active(State one) { return one == State::kUnderWay || one == State::kSettled; }
};

namespace internal {
// Number of active calls. Relaxed, as the bounds below: the thread that uses a request has it from the thread that
// began the call, and the program synchronises the two.
inline std::atomic<uint32_t> active{0};
// Bounds of the handles of all hidden receives, as numbers. They only move apart until MPI_Finalize.
inline std::atomic<uint64_t> least_handle{UINT64_MAX}, greatest_handle{0};
StartedCall* find(MPI_Request request);
}  // namespace internal

// While false, waiting and testing are the MPI's affair: it takes a persistent call that is not started for what it is,
// an inactive request.
inline bool has_active_calls() { return internal::active.load(std::memory_order_relaxed) != 0; }

inline uint64_t handle_number(MPI_Request request) {
  uint64_t number = 0;
  static_assert(sizeof request <= sizeof number);
  std::memcpy(&number, &request, sizeof request);
  return number;
}

// The call that the program holds by this request; nullptr: the MPI's own. The MPI makes hidden receives one after the
// other, so most other requests are outside their bounds.
inline StartedCall* find_started(MPI_Request request) {
  const uint64_t number = handle_number(request);
  if (number < internal::least_handle.load(std::memory_order_relaxed) ||
      number > internal::greatest_handle.load(std::memory_order_relaxed)) [[likely]]
    return nullptr;
  StartedCall* const found = internal::find(request);
  return found != nullptr && found->has(StartedCall::State::kSpare) ? nullptr : found;
}

inline void StartedCall::set(State one) {
  const bool was_active = is_active();
  state.store(one, std::memory_order_relaxed);
  if (was_active == is_active(one)) return;
  const uint32_t change = was_active ? ~uint32_t{0} : 1;
  // One thread at a time needs no locked instruction.
  if (awaited_progress.is_shared_among_threads())
    internal::active.fetch_add(change, std::memory_order_relaxed);
  else
    internal::active.store(internal::active.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

// Counts what has become of it. Threads may end calls on one communicator at the same time.
void count_outcome(const StartedCall& call, Outcome outcome);

// One that is free; nullptr: the MPI has no room for its request.
StartedCall* take_started();
// The program holds it no more.
void give_back(StartedCall& call);
// All that have been made: nobody holds one any more.
void free_requests();

// --- under way -------------------------------------------------------------------------------------------------------

// Of hocket's communicator that carries it out.
inline TryLock& lock_of(const StartedCall& call) {
  return call.home != nullptr ? call.home->lock : call.communicator->lock;
}
// `start()` starts it, by hocket's own call, with that locked; the status is its own.
template <typename Start>
hocket_status_t launch(StartedCall& call, bool is_long, const Start& start);
// Whether the next settle() ends it. Any state but a spare one's.
inline bool is_over(const StartedCall& call) {
  return !call.has(StartedCall::State::kUnderWay) || c_api::is_over(call.request);
}
// Takes the result of one that is over into the program's memory.
void settle(StartedCall& call);
// The program frees one that is under way: it goes when it is over.
void let_go(StartedCall& call);
// The program is told that it is over: it is spare, or inactive. Its MPI error.
int release(StartedCall& call);
// Of a persistent one.
inline void give_back_track(const StartedCall& call) { call.home->free_tracks |= uint64_t{1} << (call.track - 1); }
// MPI_Request_free of a persistent one that is inactive.
void free_persistent(StartedCall& call);

// Moves all that are under way, and settles those that have been freed.
void advance_started();
// Settles all of a communicator, waiting for them; nullptr: of every one.
void drain_started(const Communicator* communicator);

template <typename Start>
hocket_status_t launch(StartedCall& call, bool is_long, const Start& start) {
  Communicator& communicator = *call.communicator;
  raise_pending(communicator);
  hocket_status_t status = HOCKET_OK;
  {
    const std::lock_guard lock(lock_of(call));
    status = start();
  }
  if (status != HOCKET_OK) {
    lower_pending(communicator, true);
    return status;
  }
  call.set(StartedCall::State::kUnderWay);
  if (!c_api::is_over(call.request)) watch(communicator, is_long);
  return HOCKET_OK;
}

}  // namespace hocket::interposer
