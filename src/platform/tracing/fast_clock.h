// SPDX-License-Identifier: BSD-3-Clause
// The clock of base/clock.h for less: by the processor's counter, which each thread compares with the clock a hundred
// times a second. Until it knows the counter's rate, where the counter doesn't run evenly, and on processors other than
// x86, it is the clock itself.
//
// In one thread it only grows. It is off by less than a microsecond, mostly by some ten nanoseconds.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "base/clock.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hocket::platform {

#if defined(__x86_64__)

namespace internal {

struct ClockAnchor {
  static constexpr uint32_t kRateBits = 32;
  uint64_t ticks = 0;        // the counter, when
  uint64_t ns = 0;           // the clock said this
  uint64_t rate = 0;         // nanoseconds a tick, times 2^kRateBits
  uint64_t valid_ticks = 0;  // for so long after; 0: the rate is unknown
  // What the rate is taken from.
  uint64_t measured_ticks = 0;
  uint64_t measured_ns = 0;

  uint64_t at(uint64_t now_ticks) const { return ns + ((now_ticks - ticks) * rate >> kRateBits); }
};
inline constinit thread_local ClockAnchor clock_anchor __attribute__((tls_model("initial-exec")));
// Looks at the clock, and anchors the counter to it anew.
uint64_t anchor_clock();

}  // namespace internal

inline uint64_t fast_now_ns() {
  const internal::ClockAnchor& anchor = internal::clock_anchor;
  const uint64_t ticks = __rdtsc();
  if (ticks - anchor.ticks < anchor.valid_ticks) [[likely]]
    return anchor.at(ticks);
  return internal::anchor_clock();
}

#else

inline uint64_t fast_now_ns() { return now_ns(); }

#endif

}  // namespace hocket::platform
