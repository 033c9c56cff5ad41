// SPDX-License-Identifier: BSD-3-Clause
// What an event of the trace costs (docs/trace.md): reading a clock, and a slice with its two times. Medians of rounds;
// the first rounds, in which the ring's memory is new, are told apart.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "platform/tracing/fast_clock.h"
#include "platform/tracing/trace_ring.h"

namespace {

using hocket::platform::fast_now_ns;
using hocket::platform::TraceEvent;
using hocket::platform::TraceRing;

constexpr int kRounds = 41;
constexpr uint64_t kCalls = 20'000;

template <typename Body>
double median_ns(int rounds, const Body& body) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t from = hocket::now_ns();
    for (uint64_t call = 0; call < kCalls; ++call) body(call);
    times.push_back(static_cast<double>(hocket::now_ns() - from) / static_cast<double>(kCalls));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<size_t>(rounds) / 2];
}

}  // namespace

int main() {
  volatile uint64_t sink = 0;
  auto ring = TraceRing::create(uint64_t{1} << 20);
  if (!ring.is_ok()) {
    std::fprintf(stderr, "%s\n", ring.status().message());
    return 1;
  }
  const auto slice = [&](uint64_t call) {
    TraceEvent event;
    event.began_ns = fast_now_ns();
    event.number = call;
    event.ended_ns = fast_now_ns();
    ring.value()->add(event);
  };
  const double clock = median_ns(kRounds, [&](uint64_t) { sink = hocket::now_ns(); });
  const double fast = median_ns(kRounds, [&](uint64_t) { sink = fast_now_ns(); });
  const double fresh = median_ns(kRounds, slice);
  const double again = (median_ns(kRounds, slice), median_ns(kRounds, slice));
  std::printf("%-48s %6.1f ns\n%-48s %6.1f ns\n%-48s %6.1f ns\n%-48s %6.1f ns\n", "the system's clock", clock,
              "the trace's clock", fast, "a slice with two times, in memory that is new", fresh,
              "a slice with two times", again);
  return 0;
}
