// SPDX-License-Identifier: BSD-3-Clause
#include "selection/by_mpi.h"

#include "selection/matching.h"

namespace hocket::selection {

namespace {

// Of some length.
bool holds_here(Query query, const Table& table, const Rule& rule) {
  query.collective = rule.collective;
  query.bytes = rule.bytes.first;
  return matches(query, table, rule);
}

}  // namespace

ByMpi::ByMpi(const Query& communicator, const Table* table, const Forced& forced) {
  for (const auto& [collective, spec] : forced)
    if (spec.is_mpis) lines_[static_cast<size_t>(collective)] = {{Interval{}, true}};
  if (table == nullptr) return;
  for (const Rule& found : table->rules_of_mpi()) {
    const auto i = static_cast<size_t>(found.collective);
    if (forced.count(found.collective) != 0 || !lines_[i].empty() || !holds_here(communicator, *table, found)) continue;
    for (const Rule& rule : table->rules())
      if (rule.collective == found.collective && holds_here(communicator, *table, rule))
        lines_[i].push_back({rule.bytes, rule.spec.is_mpis});
  }
}

bool ByMpi::any() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const auto& lines) { return !lines.empty(); });
}

}  // namespace hocket::selection
