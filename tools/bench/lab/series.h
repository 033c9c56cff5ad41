// SPDX-License-Identifier: BSD-3-Clause
// What the slices of a variant gave, taken together.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/lab/run.h"
#include "words/median.h"

namespace hocket::lab_bench {

class Series {
 public:
  void add(const Measured& measured);

  // The median of the slices, and the least and the greatest of them, of a member of Measured. -1: not known.
  double median(double Measured::* what) const { return median_of(values(what)); }
  double lowest(double Measured::* what) const;
  double highest(double Measured::* what) const;
  // Of what is too short to be measured in a slice.
  double mean(double Measured::* what) const;
  // By rank, the median of the slices; empty: not known.
  std::vector<double> rank_us() const;
  size_t calls() const { return call_ns_.size(); }
  // A quantile of all calls.
  double call_us(double share) const;

 private:
  std::vector<double> values(double Measured::* what) const;

  std::vector<Measured> slices_;  // without their calls
  std::vector<uint64_t> call_ns_;
};

}  // namespace hocket::lab_bench
