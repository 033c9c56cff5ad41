// SPDX-License-Identifier: BSD-3-Clause
// Measures what hocket does against the same done by hand: a block of calls of one, a block of the other, in turn, so
// that whatever slows the machine down slows both.
//
// Counters: `steps` of a call; `hand_ns`, what a call takes by hand; `hocket_ns`, one of hocket's; `over_ns_per_step`,
// the difference for each step. They come from the median block, while "Time" is the mean of hocket's.
//
// Thread safety: none.
#pragma once

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace hocket::bench {

inline constexpr uint32_t kCallsInBlock = 1000;

template <typename Call>
void run_block(Call& call) {
  for (uint32_t i = 0; i < kCallsInBlock; ++i) call();
}

template <typename Call>
double time_of_block(Call& call) {
  const uint64_t begin_ns = now_ns();
  run_block(call);
  return static_cast<double>(now_ns() - begin_ns);
}

inline double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename ByHand, typename Ours>
void compare(benchmark::State& state, uint32_t steps, ByHand& by_hand, Ours& ours) {
  std::vector<double> hand_ns;
  std::vector<double> ours_ns;
  run_block(by_hand);  // not timed: a peer may have to wake first
  run_block(ours);
  while (state.KeepRunningBatch(kCallsInBlock)) {
    hand_ns.push_back(time_of_block(by_hand));
    ours_ns.push_back(time_of_block(ours));
    state.SetIterationTime(ours_ns.back() / static_cast<double>(kNanosecondsPerSecond));
  }
  const double hand = median(hand_ns) / kCallsInBlock;
  const double hocket = median(ours_ns) / kCallsInBlock;
  state.counters["steps"] = steps;
  state.counters["hand_ns"] = hand;
  state.counters["hocket_ns"] = hocket;
  if (steps > 0) state.counters["over_ns_per_step"] = (hocket - hand) / steps;
}

// The other rank's part of compare(), on its own thread.
template <typename ByHand, typename Ours>
void take_part(const benchmark::State& state, ByHand& by_hand, Ours& ours) {
  const uint64_t timed = (static_cast<uint64_t>(state.max_iterations) + kCallsInBlock - 1) / kCallsInBlock;
  for (uint64_t i = 0; i < 1 + timed; ++i) {
    run_block(by_hand);
    run_block(ours);
  }
}

// Between two looks of who waits for a peer: spins, with the pause that makes barriers by hand faster too, and now and
// then lets others run, without whom two measurements at real-time priority could wait for each other for ever.
class Spinning {
 public:
  void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
    if (++looks_ % kLooksPerYield == 0) [[unlikely]]
      sched_yield();
  }

 private:
  static constexpr uint32_t kLooksPerYield = 1 << 14;
  uint32_t looks_ = 0;
};

}  // namespace hocket::bench
