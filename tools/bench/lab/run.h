// SPDX-License-Identifier: BSD-3-Clause
// One measurement: ranks in nodes of a lab, one a node in random order, which do one call after the other.
//
// Thread safety: one thread. Ranks are child processes, which end with this one, however it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "bench/lab/board.h"
#include "bench/lab/driver.h"
#include "bench/lab/task.h"
#include "lab/lab.h"

namespace hocket::lab_bench {

struct Run {
  Task task;
  std::function<schedule::Plan(uint32_t rank)> plan_of;
  std::function<std::unique_ptr<Driver>(const Place& place)> make_driver;
};

// Of all nodes together, and of the one where rank 0 lives.
Result<Traffic> traffic_of(const lab::Lab& lab, int root_node);

struct Measured {
  // Microseconds a call: back to back, of the rank that took longest; the latency; a rank's time in the call.
  double mean_us = 0;
  std::vector<uint64_t> call_ns;  // each: rank 0's, the latency, the mean of all ranks
  // Of a rank's time in the call: rank 0's, and that of the others.
  double root_us = -1;
  double others_us = -1;
  double others_median_us = -1;
  // Of calls and computations: the time of either alone, of both, and which share of the call's is saved by doing both
  // at once.
  double call_us = -1;
  double computation_us = -1;
  double both_us = -1;
  double overlap = -1;
  // Of the whole machine, the kernel's interrupts included, a call, by a clock that ticks each 10 ms; -1: not known.
  double processor_us = -1;
  // That nodes sent, a call, and that the root's did; acknowledgements of their protocols included.
  double packets = -1;
  double bytes = -1;
  double root_packets = -1;
  double root_bytes = -1;
  // The latency: until each rank had it; -1: it gets nothing.
  std::vector<double> rank_us;
};

Result<Measured> measure(const lab::Lab& lab, const Run& run);

// What the ranks have written down.
Measured result_of(const Board& board);

}  // namespace hocket::lab_bench
