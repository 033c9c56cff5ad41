// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hocket::lab_bench {

void Series::add(const Measured& measured) {
  call_ns_.insert(call_ns_.end(), measured.call_ns.begin(), measured.call_ns.end());
  slices_.push_back(measured);
  slices_.back().call_ns.clear();
}

std::vector<double> Series::values(double Measured::* what) const {
  std::vector<double> values;
  for (const Measured& slice : slices_) values.push_back(slice.*what);
  return values;
}

double Series::lowest(double Measured::* what) const {
  const std::vector<double> all = values(what);
  return *std::min_element(all.begin(), all.end());
}

double Series::highest(double Measured::* what) const {
  const std::vector<double> all = values(what);
  return *std::max_element(all.begin(), all.end());
}

double Series::mean(double Measured::* what) const {
  const std::vector<double> all = values(what);
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

std::vector<double> Series::rank_us() const {
  std::vector<double> medians;
  for (size_t rank = 0; !slices_.empty() && rank < slices_[0].rank_us.size(); ++rank) {
    std::vector<double> values;
    for (const Measured& slice : slices_) values.push_back(slice.rank_us[rank]);
    medians.push_back(median_of(std::move(values)));
  }
  return medians;
}

double Series::call_us(double share) const {
  if (call_ns_.empty()) return -1;
  std::vector<uint64_t> sorted = call_ns_;
  const auto at = static_cast<ptrdiff_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return static_cast<double>(sorted[static_cast<size_t>(at)]) / 1000;
}

}  // namespace hocket::lab_bench
