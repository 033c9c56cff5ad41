// SPDX-License-Identifier: BSD-3-Clause
// The clock for waiting and measuring: nanoseconds, or microseconds with a fraction, that only grow, with no relation
// to the date.
//
// Thread safety: any thread. Comparable between processes of one machine (one boot).
#pragma once

#include <ctime>

#include <cstdint>

namespace hocket {

inline constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

inline uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);  // can't fail: the clock exists on every Linux
  return static_cast<uint64_t>(time.tv_sec) * kNanosecondsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

inline double now_us() { return static_cast<double>(now_ns()) / 1000; }

}  // namespace hocket
