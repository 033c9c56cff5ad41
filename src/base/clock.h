// SPDX-License-Identifier: BSD-3-Clause
// The machine's clock, for waiting and measuring: nanoseconds, or microseconds with a fraction, that only grow, with no
// relation to the date. And the processor time of the calling thread, in nanoseconds.
//
// Thread safety: any thread. Times of the machine's clock are comparable between processes of one boot.
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

// Processor time of the calling thread.
inline int64_t processor_time_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);  // can't fail: every thread has one
  return static_cast<int64_t>(time.tv_sec) * static_cast<int64_t>(kNanosecondsPerSecond) + time.tv_nsec;
}

inline double now_us() { return static_cast<double>(now_ns()) / 1000; }

}  // namespace hocket
