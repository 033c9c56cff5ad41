// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/fast_clock.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace hocket::platform::internal {
namespace {

constexpr uint64_t kShortestMeasureNs = 1'000'000;
constexpr uint64_t kValidNs = 10'000'000;
// Between two reads of the counter with one of the clock in between; more: the thread has lost its core meanwhile.
constexpr uint64_t kMostTicksBetween = 4000;
// A rate changes by less: 1 / this. A machine that has slept, or a guest that has moved, is measured anew.
constexpr uint64_t kSteadiness = 1024;

// Whether the processor says that the counter runs evenly, and the kernel hasn't found otherwise.
bool is_even() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return source != "hpet" && source != "acpi_pm" && source != "jiffies";
}

uint64_t scaled(uint64_t ns, uint64_t ticks) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(ns) << ClockAnchor::kRateBits) / ticks);
}

bool is_near(uint64_t one, uint64_t other) {
  return std::max(one, other) - std::min(one, other) <= other / kSteadiness;
}

}  // namespace

uint64_t anchor_clock() {
  static const bool even = is_even();
  if (!even) return now_ns();
  ClockAnchor& anchor = clock_anchor;
  const uint64_t before = __rdtsc();
  const uint64_t now = now_ns();
  const uint64_t after = __rdtsc();
  if (after - before > kMostTicksBetween) return now;
  const uint64_t ticks = before + (after - before) / 2;
  if (anchor.measured_ticks == 0 || ticks <= anchor.measured_ticks || now <= anchor.measured_ns) {
    anchor = {.measured_ticks = ticks, .measured_ns = now};
    return now;
  }
  if (now - anchor.measured_ns < kShortestMeasureNs) return now;
  const uint64_t rate = scaled(now - anchor.measured_ns, ticks - anchor.measured_ticks);
  if (rate == 0 || (anchor.rate != 0 && !is_near(rate, anchor.rate))) {
    anchor = {.measured_ticks = ticks, .measured_ns = now};
    return now;
  }
  // It never goes back: what was told with the old rate may be a little ahead of the clock.
  const uint64_t told = anchor.rate != 0 && now - anchor.ns < 2 * kValidNs ? anchor.at(ticks) : 0;
  anchor.ticks = ticks;
  anchor.ns = std::max(now, told);
  anchor.rate = rate;
  anchor.valid_ticks = scaled(kValidNs, rate);
  anchor.measured_ticks = ticks;
  anchor.measured_ns = now;
  return anchor.ns;
}

}  // namespace hocket::platform::internal

#endif
