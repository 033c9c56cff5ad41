// SPDX-License-Identifier: BSD-3-Clause
// Sums over a process's blocking calls, while somebody wants them (TimesFor::kCounters).
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "communicator/timing/call_times.h"

namespace hocket::communicator {

enum class CallCounter : uint8_t { kCalls, kBytes, kTimeNs, kIdleNs, kLateNs, kWaits };
inline constexpr size_t kCallCounters = static_cast<size_t>(CallCounter::kWaits) + 1;

// Relaxed, all: the numbers order nothing.
inline std::array<std::atomic<uint64_t>, kCallCounters> call_counters{};

inline void count_call(const CallTimes& times) {
  const auto add = [](CallCounter which, uint64_t more) {
    if (more != 0) call_counters[static_cast<size_t>(which)].fetch_add(more, std::memory_order_relaxed);
  };
  add(CallCounter::kCalls, 1);
  add(CallCounter::kBytes, times.bytes);
  add(CallCounter::kTimeNs, times.ended_ns - times.began_ns);
  add(CallCounter::kIdleNs, times.idle_ns);
  if (!times.has_waited()) return;
  add(CallCounter::kLateNs, times.waited_for_late_ns);
  add(CallCounter::kWaits, 1);
}

}  // namespace hocket::communicator
