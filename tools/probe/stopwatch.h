// SPDX-License-Identifier: BSD-3-Clause
// Times work in which some ranks take part, while the others sleep.
//
// Thread safety: none. Collective; all ranks get the same times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/bench.h"

namespace hocket::probe {

struct Time {
  double us = 0;      // the median of the samples
  double spread = 1;  // their 90th percentile over their 10th
};

// Of samples that all ranks have alike.
Time time_of(const std::vector<double>& samples_us);

class Stopwatch {
 public:
  explicit Stopwatch(bench::World& world) : world_(world) {}

  // So long for each measurement, about; what rank 0 says counts. Ranks that stopped at different times would wait for
  // each other forever.
  void set_share(double share_s);
  // The time of one turn: `work` makes that many, on ranks that take part. A sample is the slowest rank's time of many.
  Time turns(bool takes_part, const std::function<void(uint64_t turns)>& work);
  // `work` tells how long what counts in it took on this rank; a sample is the slowest rank's, of each of the values.
  std::vector<Time> phases(bool takes_part, size_t values, const std::function<void(double* us)>& work);

 private:
  double batch_us(bool takes_part, uint64_t turns, const std::function<void(uint64_t)>& work);
  // What rank 0's clock says: the same on all ranks.
  bool is_over(uint64_t begin_ns);
  void meet(bool takes_part) { takes_part ? world_.synchronize() : world_.rest(); }

  bench::World& world_;
  double share_s_ = 0.1;
  double batch_us_ = 3000;
};

}  // namespace hocket::probe
