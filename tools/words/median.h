// SPDX-License-Identifier: BSD-3-Clause
// The middle of what was measured.
//
// Thread safety: a pure function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hocket {

// Of an even number of values the mean of the two in the middle; of none 0.
template <typename Number>
double median_of(std::vector<Number> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto upper = static_cast<double>(*middle);
  if (values.size() % 2 == 1) return upper;
  return (upper + static_cast<double>(*std::max_element(values.begin(), middle))) / 2;
}

}  // namespace hocket
