// SPDX-License-Identifier: BSD-3-Clause
#include "selection/by_mpi.h"

#include "selection/matching.h"

namespace hocket::selection {

ByMpi::ByMpi(const Query& communicator, const Table* table, const Forced& forced) {
  Query query = communicator;
  for (size_t i = 0; i < lines_.size(); ++i) {
    query.collective = static_cast<schedule::Collective>(i);
    std::vector<Line>& lines = lines_[i];
    if (forced[i]) {
      lines.push_back({Interval{}, forced[i]->is_mpis});
    } else if (table != nullptr) {
      for (const Rule& rule : table->rules()) {
        query.bytes = rule.bytes.first;
        if (matches(query, *table, rule)) lines.push_back({rule.bytes, rule.spec.is_mpis});
      }
    }
    if (std::none_of(lines.begin(), lines.end(), [](const Line& line) { return line.is_mpis; })) lines.clear();
  }
}

bool ByMpi::any() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const auto& lines) { return !lines.empty(); });
}

}  // namespace hocket::selection
