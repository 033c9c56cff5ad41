// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/goal.h"

namespace hocket::simulation {

Dependents::Dependents(size_t operations, std::span<const Pair> pairs)
    : first_(operations + 1, 0), waiting_(pairs.size()) {
  for (const Pair& pair : pairs) ++first_[pair.awaited + 1];
  for (size_t i = 0; i < operations; ++i) first_[i + 1] += first_[i];
  // Each moves its beginning to its end, which is where the next one's beginning was.
  for (const Pair& pair : pairs) waiting_[first_[pair.awaited]++] = pair.waiting;
  for (size_t i = operations; i > 0; --i) first_[i] = first_[i - 1];
  first_[0] = 0;
}

std::string Goal::place_of(uint32_t operation) const {
  const GoalOperation& one = operations[operation];
  std::string place = name + ":" + std::to_string(one.line) + " (";
  if (one.label != 0) place.append(labels.c_str() + one.label).append(" of ");
  return place.append("rank ").append(std::to_string(one.rank)).append(")");
}

}  // namespace hocket::simulation
