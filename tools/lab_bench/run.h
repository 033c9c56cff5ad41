// SPDX-License-Identifier: BSD-3-Clause
// One measurement: ranks in nodes of a lab, one a node in an order of the dice, who do one barrier after the other.
//
// Thread safety: one thread. Ranks are child processes, which end with this one, however it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "lab/lab.h"
#include "lab_bench/barrier_driver.h"

namespace hocket::lab_bench {

struct Run {
  uint32_t ranks = 2;
  uint32_t warm_ups = 100;
  uint32_t rounds = 10'000;
  uint64_t seed = 1;
  Waiting waiting = Waiting::kSpin;
  // Computes between barriers, for up to so long (uniformly).
  double compute_us = 0;
  // Whether each rank looks after each barrier if all others have begun it; costs a little.
  bool is_checked = false;
  std::function<schedule::Plan(uint32_t rank)> plan_of;
  std::function<std::unique_ptr<BarrierDriver>(const Place& place)> make_driver;
};

struct Measured {
  double mean_us = 0;              // a barrier, by the rank that took longest
  std::vector<uint64_t> round_ns;  // rank 0's, each; where neither they nor the mean are known:
  double median_us = 0;
  double p99_us = 0;
  // Of the whole machine, the kernel's interrupts included, a barrier, by a clock that ticks each 10 ms; -1: not known.
  double processor_us = -1;
  double packets = -1;  // that nodes sent, a barrier; -1: not known
};

Result<Measured> measure(const lab::Lab& lab, const Run& run);

}  // namespace hocket::lab_bench
