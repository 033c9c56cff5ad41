// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits. until() polls in the manner of the waiting policy, advances this rank's requests and the library
// underneath, sleeps where that is due, listens to rings, and checks for failed peers. poll_until() polls, advances the
// library underneath, and sleeps.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "communicator/attention.h"
#include "communicator/calls/requests.h"
#include "communicator/context.h"
#include "platform/waiting/waiting.h"

namespace hocket::communicator {

class Wait {
 public:
  // All outlive it. `turns`: of this node's ranks, by place.
  Wait(Context& context, const Participants& participants, Tracks& tracks, RequestQueue& requests,
       FailureDetector& failure, platform::WaitPolicy policy);

  // The rank has come to a call.
  void arrive() { waiter_.arrive(); }
  // Until is_done() says so, or a failure is found, which breaks the communicator. `awaits()`: what to sleep for, as
  // RankBlock::awaits.
  template <typename Look, typename Awaits>
  Status until(const Look& is_done, const Awaits& awaits);
  // Polls until is_over(), which must detect failures, returns true. No peer and no ring ends its sleeps, which last
  // 1 ms at most. Peers' memory is not read: they may be gone.
  template <typename IsOver>
  void poll_until(const IsOver& is_over);

 private:
  template <typename Look, typename Awaits>
  Status look_until(const Look& is_done, const Awaits& awaits);
  // A rank that yields to its peers wants to be rung from then on. Most waits among running ranks are shorter.
  static constexpr uint32_t kLooksBeforeRings = 16;
  // This many looks at the library underneath without a pause take some milliseconds.
  static constexpr uint32_t kLooksPerFailureCheck = 1024;

  // Moves the library underneath.
  void progress();
  // True: a peer woke this rank, or what it waits for has come.
  bool sleep();
  // The ringer spins until this rank has polled.
  void leave_ringers_core();
  Status check_for_failure();

  Context& context_;
  const Participants& participants_;
  Tracks& tracks_;
  RequestQueue& requests_;
  FailureDetector& failure_;
  Attention attention_;
  platform::Turns turns_;
  platform::WaitPolicy without_peers_;
  platform::Waiter waiter_;
  int64_t next_check_ns_ = 0;
};

template <typename Look, typename Awaits>
Status Wait::until(const Look& is_done, const Awaits& awaits) {
  waiter_.start();
  Status status = look_until(is_done, awaits);
  attention_.rings().end();
  if (const int64_t waited_ns = waiter_.waited_at_least_ns(); waited_ns != 0) failure_.end_wait(waited_ns);
  return status;
}

template <typename IsOver>
void Wait::poll_until(const IsOver& is_over) {
  platform::Waiter waiter(without_peers_);
  waiter.start();
  for (uint32_t polls = 1; !is_over(); ++polls) {
    const bool sleeps = waiter.pause() == platform::WaitAction::kSleep;
    if (sleeps) {
      const timespec pause{0, waiter.poll_interval_ns()};
      nanosleep(&pause, nullptr);
      waiter.woken(false);
    }
    if (sleeps || polls % platform::Waiter::kLooksPerProgress == 0) context_.progress();
  }
}

template <typename Look, typename Awaits>
Status Wait::look_until(const Look& is_done, const Awaits& awaits) {
  next_check_ns_ = FailureDetector::kIntervalNs;
  bool attends = false;
  for (uint32_t looks = 1;; ++looks) {
    if (is_done()) return Status::ok();
    const bool attended = std::exchange(attends, attention_.is_called_for());
    if (attends && !attended) [[unlikely]]
      attention_.start(static_cast<int64_t>(now_ns()));
    if (attention_.was_rung_from_here()) [[unlikely]]
      leave_ringers_core();
    if (attends && attention_.keeps_core()) {
      progress();
      HOCKET_TRY(requests_.advance_beside());
      // This branch does not read the clock, so it counts looks instead.
      if (looks % kLooksPerFailureCheck == 0) HOCKET_TRY(check_for_failure());
      continue;
    }
    // Only the first track is asked: it has the call that blocks here; requests, on the others, yield as ever.
    const platform::WaitAction action =
        waiter_.pause(tracks_.first().lane().peer_is_writing(), attends && !attention_.may_sleep());
    if (action == platform::WaitAction::kSleep ||
        (action == platform::WaitAction::kYield && looks > kLooksBeforeRings && attention_.has_reasons()))
      (void)attention_.rings().want_rings();
    if (action == platform::WaitAction::kSleep) {
      participants_.group->announce_sleep(awaits());
      const bool done = is_done();
      bool woken = false;
      if (!done) woken = sleep();
      participants_.group->withdraw_sleep();
      if (done) return Status::ok();
      waiter_.woken(woken);
      attention_.has_slept();
      progress();
    } else if (attends || looks % platform::Waiter::kLooksPerProgress == 0) {
      progress();
    } else {
      HOCKET_TRY(requests_.advance_beside());
      continue;
    }
    HOCKET_TRY(requests_.advance_beside());
    if (waiter_.waited_ns() >= next_check_ns_) {
      next_check_ns_ = waiter_.waited_ns() + FailureDetector::kIntervalNs;
      HOCKET_TRY(check_for_failure());
    }
  }
}

}  // namespace hocket::communicator
