// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/waiting.h"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "platform/waiting/time_slice.h"

namespace hocket::platform {
namespace {

// A look costs some ten nanoseconds, reading the clock several times that.
constexpr uint32_t kLooksBetweenClocks = 128;
// The first looks of a wait follow each other at once: what a running peer answers comes within them, and the pause
// that spares a sibling thread on the same core would be most of the time it takes.
constexpr uint32_t kEagerLooks = 64;
// Ranks that share cores yield at once, but not to whom they wait for when that one is just writing: it runs on another
// core, and the rank that got this one might compute for a whole time slice. That many looks take ten microseconds.
constexpr uint32_t kLooksAtWork = 256;
// A yield among ranks that wait takes a microsecond a rank, among ranks that work in pieces some tens. One that takes
// this long, somewhat less than the tick of a kernel with 1000 a second, has let another program compute.
constexpr int64_t kLongYieldNs = 950'000;
// A turn on the core that is as long was work, and is told to the others.
constexpr int64_t kWorkNs = 20'000;
// What a yield costs the rank itself, however long others then have the core.
constexpr int64_t kYieldCostNs = 10'000;
// What a wait costs more when it sleeps than when it yields, among ranks that have the cores to themselves; and beside
// other load, with short time slices.
constexpr int64_t kSleepCostNs = 20'000;
constexpr int64_t kSleepCostBesideLoadNs = 1'000'000;
// What yielding has saved counts against what it loses later, but not for ever.
constexpr int64_t kLargestCreditNs = 32'000'000;
// Two time slices. Once yielding has lost more than this, beyond what sleeping would have cost, it was the wrong
// choice.
constexpr int64_t kToleratedLossNs = 8'000'000;
// Waits that go to sleep at once before yielding is tried again. A trial may lose a time slice, and to all ranks, so
// while the load lasts trials get rare quickly; but never so rare that it matters after the load has gone.
constexpr uint32_t kFirstPenalty = 64;
constexpr uint32_t kPenaltyGrowth = 8;
constexpr uint32_t kLargestPenalty = 16384;
// Beside other load a rank does not have its core to itself, so it spins only as long as a running peer needs to
// answer.
constexpr int64_t kSpinBesideLoadNs = 5'000;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

int64_t clock_ns() { return static_cast<int64_t>(now_ns()); }

int64_t processor_time_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // can't fail: every thread has one
  return static_cast<int64_t>(time.tv_sec) * static_cast<int64_t>(kNanosecondsPerSecond) + time.tv_nsec;
}

// Different for any two threads.
const void* this_thread() {
  static thread_local char here;
  return &here;
}

}  // namespace

void Waiter::prepare() {
  if (policy_.mode == WaitMode::kAutomatic && policy_.oversubscribed && asked_in_ != this_thread()) shorten_slices();
}

WaitAction Waiter::pause(bool at_work) {
  const uint32_t look = looks_++;
  switch (policy_.mode) {
    case WaitMode::kSpin:
      if (look % kLooksBetweenClocks == kLooksBetweenClocks - 1) read_clock();
      relax();
      return WaitAction::kSpin;
    case WaitMode::kYield:
      if (look % kLooksBetweenClocks == kLooksBetweenClocks - 1) read_clock();
      sched_yield();
      return WaitAction::kYield;
    case WaitMode::kSleep:
      return sleep();
    case WaitMode::kAutomatic:
      break;
  }
  if (at_work && look < kLooksAtWork) {
    relax();
    return WaitAction::kSpin;
  }
  const int64_t spin_ns = policy_.oversubscribed ? 0 : waits_beside_load_ > 0 ? kSpinBesideLoadNs : policy_.spin_ns;
  if (last_ns_ - started_ns_ < spin_ns) {
    if (look % kLooksBetweenClocks == kLooksBetweenClocks - 1) read_clock();
    if (look >= kEagerLooks) relax();
    return WaitAction::kSpin;
  }
  return waits_beside_load_ > 0 ? sleep() : yield();
}

void Waiter::read_clock() {
  last_ns_ = clock_ns();
  if (started_ns_ == 0) started_ns_ = last_ns_;
}

// True if this thread has worked since it got the core. The time that has gone by says so only together with the
// processor's: it may have slept, or have been interrupted.
bool Waiter::report_turn() {
  read_clock();
  if (turn_ns_ == 0) turn_ns_ = last_ns_;
  if (last_ns_ - turn_ns_ < kWorkNs) return false;
  const int64_t begin_ns = std::exchange(turn_ns_, last_ns_);
  const int64_t cpu_ns = processor_time_ns();
  const int64_t worked_ns = std::min(last_ns_ - begin_ns, cpu_ns - std::exchange(reported_cpu_ns_, cpu_ns));
  if (worked_ns < kWorkNs) return false;
  if (policy_.turns != nullptr) policy_.turns->report(last_ns_ - worked_ns, last_ns_);
  return true;
}

WaitAction Waiter::sleep() {
  if (!has_given_way_ && waits_beside_load_ > 0) --waits_beside_load_;
  has_given_way_ = true;
  report_turn();
  return WaitAction::kSleep;
}

WaitAction Waiter::yield() {
  // A poll may also have made progress, since data can come in pieces. Then no peer is late.
  if (report_turn()) idle_ns_ = 0;
  if (idle_ns_ >= policy_.yield_ns) return WaitAction::kSleep;
  prepare();
  if (!has_given_way_) forgive();
  has_given_way_ = true;
  const int64_t before_ns = last_ns_;
  sched_yield();
  read_clock();
  turn_ns_ = last_ns_;
  count(before_ns);
  return WaitAction::kYield;
}

bool Waiter::went_to_peers(int64_t begin_ns, int64_t end_ns) const {
  if (policy_.has_hidden_peers) return true;
  return policy_.turns != nullptr && 2 * policy_.turns->of_others_ns(begin_ns, end_ns) >= end_ns - begin_ns;
}

void Waiter::count(int64_t before_ns) {
  const int64_t yield_ns = last_ns_ - before_ns;
  // A peer that was interrupted reports its turn only when it gives up the core, so the next yield that lets it run
  // decides whose time this was.
  if (doubtful_end_ns_ != 0) {
    const bool was_ours = went_to_peers(doubtful_begin_ns_, doubtful_end_ns_);
    if (!was_ours && yield_ns >= kWorkNs) {
      idle_ns_ += doubtful_end_ns_ - doubtful_begin_ns_;
      lost(doubtful_end_ns_ - doubtful_begin_ns_);
    }
    if (was_ours || yield_ns >= kWorkNs) doubtful_end_ns_ = 0;
  }
  if (yield_ns < kLongYieldNs || went_to_peers(before_ns, last_ns_)) {
    idle_ns_ += std::min(yield_ns, kYieldCostNs);
    return;
  }
  doubtful_begin_ns_ = before_ns;
  doubtful_end_ns_ = last_ns_;
}

bool Waiter::shorten_slices() {
  asked_in_ = this_thread();
  slices_are_short_ = policy_.slice_ns != 0 && shorten_time_slice(policy_.slice_ns);
  return slices_are_short_;
}

void Waiter::lost(int64_t yield_ns) {
  lost_ns_ += yield_ns;
  if (lost_ns_ < kToleratedLossNs) return;
  // With short slices a yielder gets the core back soon. Ranks that share cores have asked long before.
  if (asked_in_ != this_thread() && shorten_slices()) {
    lost_ns_ = 0;
    return;
  }
  penalty_ = std::clamp(kPenaltyGrowth * penalty_, kFirstPenalty, kLargestPenalty);
  waits_beside_load_ = penalty_;
  lost_ns_ = kToleratedLossNs - kLongYieldNs;  // in the next trial one long yield is enough
}

// Called once in a wait that yields.
void Waiter::forgive() {
  const bool beside_load = slices_are_short_ && policy_.oversubscribed;
  lost_ns_ = beside_load ? std::max(lost_ns_ - kSleepCostBesideLoadNs, -kLargestCreditNs)
                         : std::max<int64_t>(lost_ns_ - kSleepCostNs, 0);
  if (lost_ns_ <= 0) penalty_ = 0;
}

int64_t Waiter::waited_ns() const { return started_ns_ == 0 ? 0 : clock_ns() - started_ns_; }

void Waiter::woken(bool by_peer) {
  read_clock();
  turn_ns_ = last_ns_;
  if (by_peer) {
    sleep_ns_ = kFirstSleepNs;
    return;
  }
  sleep_ns_ = std::min(2 * sleep_ns_, kLongestSleepNs);
}

}  // namespace hocket::platform
