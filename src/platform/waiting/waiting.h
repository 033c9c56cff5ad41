// SPDX-License-Identifier: BSD-3-Clause
// What a waiting rank does with its core: spin, yield, or sleep.
//
// Ranks that have a core each spin, since a hand-over by spinning takes a tenth of a microsecond. Where ranks share
// cores, every spin is stolen from the rank waited for: they yield at once. Either way a rank that has waited for
// long sleeps.
//
// Linux charges a thread that yields a whole time slice. Ranks that share cores therefore ask for short slices
// (time_slice.h), all of them and from the beginning, even those that seldom wait: of two that yield to each other, the
// one with the shorter slice runs again and again before the other. A yield that takes as long as a usual slice, while
// no rank of the job had the core (turns.h), shows that a foreign program wants it. Ranks with a core each then ask for
// short slices too. Where these are not available or do not help, ranks sleep sooner, because a sleeper is favoured
// when it is woken and a yielder is not.
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

#include "platform/waiting/turns.h"

namespace hocket::platform {

// kSpin and kYield never sleep: for measurements, and for users who would rather burn a core.
enum class WaitMode : uint8_t { kAutomatic, kSpin, kYield, kSleep };

struct WaitPolicy {
  WaitMode mode = WaitMode::kAutomatic;  // HOCKET_WAIT=auto|spin|yield|sleep
  bool oversubscribed = false;           // more ranks than cores on this node
  int64_t spin_ns = 50'000;              // how long to spin, where spinning is right, before yielding
  int64_t yield_ns = 1'000'000;          // how long to yield, for nothing, before sleeping
  int64_t slice_ns = 0;                  // a rank that may have to yield asks for time slices this short; 0: it doesn't
  const Turns* turns = nullptr;          // of the ranks waited with; outlive the waiter. nullptr: unknown
  // Ranks whose turns can't be seen share these cores: nodes that are parts of one machine. As far as this rank knows,
  // one of them had a core that was taken from it.
  bool has_hidden_peers = false;
};

enum class WaitAction : uint8_t { kSpin, kYield, kSleep };

class Waiter {
 public:
  explicit Waiter(const WaitPolicy& policy) : policy_(policy) {}

  // Asks for short time slices if ranks share cores. For each rank to call before it works with the others, in the
  // thread that will; a thread that comes later asks when it first yields.
  void prepare();
  // At the beginning of a call: where ranks share cores, they learn what this one has done since it got the core. The
  // rank that comes last never has to wait and would not report it otherwise.
  void arrive() {
    if (policy_.oversubscribed) report_turn();
  }
  // What was done since the last pause was neither this rank's work nor an answer to what it waits for.
  void disregard() {
    if (turn_ns_ == 0) return;
    read_clock();
    turn_ns_ = last_ns_;
  }
  // Begins a wait. Cheap: reads no clock.
  void start() {
    looks_ = 0;
    started_ns_ = 0;
    last_ns_ = 0;
    idle_ns_ = 0;
    sleep_ns_ = kFirstSleepNs;
    has_given_way_ = false;
  }
  // Called after each look that found nothing: what to do before the next. kSpin and kYield have been done by the
  // time it returns; on kSleep the caller parks. `at_work`: the look found the peer just writing what is waited for.
  WaitAction pause(bool at_work = false);
  // How long the sleep that pause() asked for may last, in nanoseconds: bounded so that the progress callback
  // runs and dead peers are noticed; grows while nothing happens.
  int64_t sleep_ns() const { return sleep_ns_; }
  // The same for a rank that is not woken by everything that it waits for and has to poll in between.
  int64_t poll_interval_ns() const { return std::min(sleep_ns_ / kPollsPerSleep, kLongestPollIntervalNs); }
  // Time since the clock was first read in this wait, 0 if it has not been; it has been whenever pause() said kSleep,
  // and is read within a few hundred looks otherwise.
  int64_t waited_ns() const;
  // The same up to when the clock was last read: reads none.
  int64_t waited_at_least_ns() const { return last_ns_ - started_ns_; }
  // After a sleep: whether a peer woke us, or the sleep timed out.
  void woken(bool by_peer);
  // Whether others' load has been seen lately, so that waits go to sleep at once.
  bool sees_load() const { return waits_beside_load_ > 0; }

  static constexpr int64_t kFirstSleepNs = 500'000;
  static constexpr int64_t kLongestSleepNs = 10'000'000;
  // How often a wait polls between two calls of its progress callback, if it has one.
  static constexpr uint32_t kLooksPerProgress = 64;
  static constexpr int64_t kPollsPerSleep = 8;
  static constexpr int64_t kLongestPollIntervalNs = 1'000'000;

 private:
  WaitAction yield();
  WaitAction sleep();
  void read_clock();
  bool report_turn();
  void count(int64_t before_ns);
  bool went_to_peers(int64_t begin_ns, int64_t end_ns) const;
  void lost(int64_t yield_ns);
  bool shorten_slices();
  void forgive();

  WaitPolicy policy_;
  uint32_t looks_ = 0;
  int64_t started_ns_ = 0;
  int64_t last_ns_ = 0;  // when the clock was last read in this wait
  int64_t idle_ns_ = 0;  // of this wait: spent on yields that let no rank of the job work
  int64_t turn_ns_ = 0;  // when this thread last got the core back; 0: unknown
  int64_t sleep_ns_ = kFirstSleepNs;
  bool has_given_way_ = false;      // this wait has yielded or slept: what is spun away tells nothing of others' load
  const void* asked_in_ = nullptr;  // the thread that has asked for short slices
  bool slices_are_short_ = false;   // that thread's, by our doing
  int64_t reported_cpu_ns_ = 0;     // processor time of the thread when it last reported a turn
  int64_t doubtful_begin_ns_ = 0;   // a long yield of which the next one will show whose it was
  int64_t doubtful_end_ns_ = 0;     // 0: none
  int64_t lost_ns_ = 0;             // in long yields, beyond what sleeping would have cost
  uint32_t waits_beside_load_ = 0;  // how many of the next waits sleep without yielding first
  uint32_t penalty_ = 0;            // what waits_beside_load_ was last set to
};

}  // namespace hocket::platform
