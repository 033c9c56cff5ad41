// SPDX-License-Identifier: BSD-3-Clause
#include "selection/pricing/times.h"

#include <algorithm>
#include <iterator>

namespace hocket::selection {

double Times::first_free(double ready, double length) const {
  auto next = taken_.upper_bound(ready);
  double begin = ready;
  if (next != taken_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; next != taken_.end() && next->first < begin + length; ++next) begin = std::max(begin, next->second);
  return begin;
}

void Times::take(double begin, double end) {
  if (end <= begin) return;
  auto next = taken_.lower_bound(begin);
  if (next != taken_.begin() && std::prev(next)->second >= begin) {
    begin = std::prev(next)->first;
    next = taken_.erase(std::prev(next));
  }
  if (next != taken_.end() && next->first <= end) {
    end = std::max(end, next->second);
    taken_.erase(next);
  }
  taken_.emplace(begin, end);
}

double Times::serve(double ready, double length) {
  const double end = first_free(ready, length) + length;
  take(end - length, end);
  return end;
}

}  // namespace hocket::selection
