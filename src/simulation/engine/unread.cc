// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/unread.h"

#include <algorithm>

namespace hocket::simulation {

using schedule::Range;
using schedule::Slice;

void Unread::arrives(const Slice& slice, const Range& range) {
  if (range.length == 0) return;
  read(slice, range);
  unread_[buffer_of(slice)].emplace(range.offset, range.offset + range.length);
}

uint64_t Unread::read(const Slice& slice, const Range& range) {
  const auto found = unread_.find(buffer_of(slice));
  if (found == unread_.end() || range.length == 0) return 0;
  Ranges& ranges = found->second;
  const uint64_t end = range.offset + range.length;
  uint64_t count = 0;
  auto next = ranges.lower_bound(range.offset);
  if (next != ranges.begin() && std::prev(next)->second > range.offset) --next;
  while (next != ranges.end() && next->first < end) {
    const auto [first, last] = *next;
    next = ranges.erase(next);
    count += std::min(last, end) - std::max(first, range.offset);
    if (first < range.offset) ranges.emplace(first, range.offset);
    if (last > end) ranges.emplace(end, last);
  }
  return count;
}

std::vector<Range> Unread::within(const Slice& slice, const Range& range) const {
  std::vector<Range> result;
  const auto found = unread_.find(buffer_of(slice));
  if (found == unread_.end()) return result;
  const uint64_t end = range.offset + range.length;
  for (const auto& [first, last] : found->second) {
    const uint64_t begin = std::max(first, range.offset);
    if (begin < std::min(last, end)) result.push_back({begin, std::min(last, end) - begin});
  }
  return result;
}

uint64_t common(const std::vector<Range>& ranges, const Range& range) {
  uint64_t count = 0;
  for (const Range& one : ranges) {
    const uint64_t begin = std::max(one.offset, range.offset);
    const uint64_t end = std::min(one.offset + one.length, range.offset + range.length);
    if (begin < end) count += end - begin;
  }
  return count;
}

}  // namespace hocket::simulation
