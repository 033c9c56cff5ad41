// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting.h"

#include <sched.h>

#include <algorithm>

#include "base/clock.h"

namespace hocket::platform {
namespace {

// A look costs some ten nanoseconds, reading the clock several times that.
constexpr uint32_t kLooksBetweenClocks = 128;
// A yield among ranks that wait takes a microsecond a rank. One that takes this long has let somebody compute.
constexpr int64_t kLongYieldNs = 1'000'000;
// Yields before the clock is first read in a wait.
constexpr uint32_t kYieldsWithoutClock = 0;
constexpr uint32_t kFirstPenalty = 64;
constexpr uint32_t kLargestPenalty = 4096;

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

int64_t clock_ns() { return static_cast<int64_t>(now_ns()); }

}  // namespace

WaitAction Waiter::pause() {
  const uint32_t look = looks_++;
  switch (policy_.mode) {
    case WaitMode::kSpin:
      relax();
      return WaitAction::kSpin;
    case WaitMode::kYield:
      sched_yield();
      return WaitAction::kYield;
    case WaitMode::kSleep:
      return WaitAction::kSleep;
    case WaitMode::kAutomatic:
      break;
  }
  if (policy_.crowded) return impatience_ > 0 ? WaitAction::kSleep : yield();
  if (started_ns_ == 0 || last_ns_ - started_ns_ < policy_.spin_ns) {
    if (look % kLooksBetweenClocks == kLooksBetweenClocks - 1) {
      last_ns_ = clock_ns();
      if (started_ns_ == 0) started_ns_ = last_ns_;
    }
    relax();
    return WaitAction::kSpin;
  }
  return impatience_ > 0 ? WaitAction::kSleep : yield();
}

WaitAction Waiter::yield() {
  if (started_ns_ != 0 && last_ns_ - started_ns_ >= policy_.yield_ns) return WaitAction::kSleep;
  if (looks_ <= kYieldsWithoutClock) {
    sched_yield();
    return WaitAction::kYield;
  }
  if (last_ns_ == 0) started_ns_ = last_ns_ = clock_ns();
  sched_yield();
  const int64_t now = clock_ns();
  if (now - last_ns_ >= kLongYieldNs) notice_load();
  last_ns_ = now;
  return WaitAction::kYield;
}

// Other load tends to last: each time it is met again, it is the longer before we look for it again.
void Waiter::notice_load() {
  penalty_ = std::clamp(2 * penalty_, kFirstPenalty, kLargestPenalty);
  impatience_ = penalty_;
}

int64_t Waiter::waited_ns() const { return started_ns_ == 0 ? 0 : clock_ns() - started_ns_; }

void Waiter::woken(bool by_peer) {
  if (by_peer) {
    sleep_ns_ = kFirstSleepNs;
    return;
  }
  sleep_ns_ = std::min(2 * sleep_ns_, kLongestSleepNs);
}

}  // namespace hocket::platform
