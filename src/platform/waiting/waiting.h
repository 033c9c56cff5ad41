// SPDX-License-Identifier: BSD-3-Clause
// Waiting: a rank spins, yields, moves to another core, or sleeps. The decisions, and a table of
// the states, are in wait_state.h; this carries them out.
//
// Ranks that have a core each spin, since a hand-over by spinning takes a tenth of a microsecond. Where ranks share
// cores, every spin is stolen from the rank waited for: they yield at once. Either way a rank that has waited for
// long sleeps.
//
// Linux charges a thread that yields a whole time slice. Ranks that share cores therefore ask for short slices
// (time_slice.h), all of them and from the beginning, even those that seldom wait: of two that yield to each other, the
// one with the shorter slice runs again and again before the other. Where slices can't be shortened, a yield that takes
// as long as a usual slice, while no rank of the job had the core (turns.h), shows that a foreign program wants it;
// ranks then sleep at once for a time, because a sleeper is favoured when it is woken and a yielder is not.
//
// Ranks with a core each publish on which one they wait (Turn::last_on). A rank that finds a peer on its core moves to
// a core without any (placement.h).
//
//   waiter.start();
//   while (!there()) {
//     if (waiter.pause() != WaitAction::kSleep) continue;
//     place.parked = 1, sleeper_barrier(...);  // parking.h
//     waiter.woken(there() || park(place, waiter.sleep_ns()));
//     place.parked = 0;
//   }
//
// Thread safety: a Waiter belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "platform/waiting/own_turn.h"
#include "platform/waiting/turns.h"
#include "platform/waiting/wait_state.h"

namespace hocket::platform {

enum class WaitAction : uint8_t { kSpin, kYield, kSleep };

class Waiter {
 public:
  explicit Waiter(const WaitPolicy& policy)
      : policy_(policy), state_(policy_), turn_(policy.turns, policy.has_hidden_peers) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Asks for short time slices if ranks share cores. For each rank to call before it works with the others, in the
  // thread that will; a thread that comes later asks when it first yields.
  void prepare();
  // At the beginning of a call: where ranks share cores, they learn what this one has done since it got the core. The
  // rank that comes last never has to wait and would not report it otherwise.
  void arrive() {
    if (policy_.oversubscribed) end_turn();
  }
  // Excludes what was done since the last pause from this turn: progress of another library, say.
  void disregard();
  // Begins a wait. Cheap: reads no clock.
  void start() { state_.start(); }
  // Called after each look that found nothing: what to do before the next. kSpin and kYield have been done by the
  // time it returns; on kSleep the caller parks. `at_work`: the look found the peer just writing what is waited for;
  // `is_wanted`: peers need this rank's polls, so it does not sleep.
  WaitAction pause(bool at_work = false, bool is_wanted = false);
  // How long the sleep that pause() asked for may last, in nanoseconds: bounded so that the progress callback
  // runs and dead peers are noticed; grows while nothing happens.
  int64_t sleep_ns() const { return state_.sleep_ns(); }
  // The same for a rank that is not woken by everything that it waits for and has to poll in between.
  int64_t poll_interval_ns() const { return std::min(sleep_ns() / kPollsPerSleep, kLongestPollIntervalNs); }
  // Time since the clock was first read in this wait, 0 if it has not been; it has been whenever pause() said kSleep,
  // and is read within a few hundred looks otherwise.
  int64_t waited_ns() const;
  // The same up to when the clock was last read: reads none.
  int64_t waited_at_least_ns() const { return state_.last_ns() - state_.started_ns(); }
  // After a sleep: whether a peer woke us, or the sleep timed out.
  void woken(bool by_peer);
  // Whether other load makes yields so costly that waits sleep at once.
  bool sees_load() const;

  static constexpr int64_t kFirstSleepNs = WaitState::kFirstSleepNs;
  static constexpr int64_t kLongestSleepNs = WaitState::kLongestSleepNs;
  // How often a wait polls between two calls of its progress callback, if it has one.
  static constexpr uint32_t kLooksPerProgress = 64;
  static constexpr int64_t kPollsPerSleep = 8;
  static constexpr int64_t kLongestPollIntervalNs = 1'000'000;

 private:
  WaitStep observe(bool is_wanted);
  WaitAction yield();
  bool has_peer_here();
  void end_turn();

  WaitPolicy policy_;
  WaitState state_;
  OwnTurn turn_;
  int slept_on_ = -1;               // the core on which the rank last went to sleep
  const void* asked_in_ = nullptr;  // the thread that has asked for short slices
};

}  // namespace hocket::platform
