// SPDX-License-Identifier: BSD-3-Clause
#include "selection/by_mpi.h"

#include <algorithm>

#include "selection/matching.h"

namespace hocket::selection {
namespace {

// What is left of the intervals.
std::vector<Interval> without(const std::vector<Interval>& intervals, const Interval& taken) {
  std::vector<Interval> left;
  for (const Interval& one : intervals) {
    if (taken.last < one.first || one.last < taken.first) {
      left.push_back(one);
      continue;
    }
    if (one.first < taken.first) left.push_back({one.first, taken.first - 1});
    if (taken.last < one.last) left.push_back({taken.last + 1, one.last});
  }
  return left;
}

// Of the collective that the query asks for.
std::vector<Interval> by_table(Query query, const Table& table) {
  std::vector<Interval> found;
  std::vector<Interval> left{{}};
  for (const Rule& rule : table.rules()) {
    query.bytes = rule.bytes.first;
    if (!matches(query, table, rule)) continue;
    const std::vector<Interval> after = without(left, rule.bytes);
    if (rule.spec.is_mpis) {
      std::vector<Interval> mpis = left;
      for (const Interval& others : after) mpis = without(mpis, others);
      found.insert(found.end(), mpis.begin(), mpis.end());
    }
    left = after;
  }
  return found;
}

}  // namespace

ByMpi::ByMpi(const Query& communicator, const Table* table, const Forced& forced) {
  Query query = communicator;
  for (size_t i = 0; i < lengths_.size(); ++i) {
    query.collective = static_cast<schedule::Collective>(i);
    if (forced[i] && forced[i]->is_mpis) lengths_[i] = {Interval{}};
    if (!forced[i] && table != nullptr) lengths_[i] = by_table(query, *table);
  }
}

bool ByMpi::any() const {
  return std::any_of(lengths_.begin(), lengths_.end(), [](const auto& lengths) { return !lengths.empty(); });
}

}  // namespace hocket::selection
