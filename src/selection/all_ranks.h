// SPDX-License-Identifier: BSD-3-Clause
// What algorithms take on all ranks of a call that has more than are priced when a choice is made (kMaxPricedRanks).
// For explanations only: no choice rests on it.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "selection/cost_model.h"

namespace hocket::selection {

// All of a call's algorithms together are simulated in as many steps at most: a second or two.
inline constexpr uint64_t kMostSimulatedSteps = 4'000'000;
// Even their plans take too long of more.
inline constexpr uint32_t kMostSimulatedRanks = 1u << 16;

struct OnAllRanks {
  std::vector<Prediction> simulated;  // the cheapest first
  size_t left_out = 0;                // algorithms and degrees that would have taken too many steps
};

// `chosen` first, then the others from the cheapest by prediction on, until the steps are spent; what would take too
// many by itself is left out.
OnAllRanks simulate_on_all_ranks(const Query& query, const Table& table, const Spec& chosen,
                                 uint64_t most_steps = kMostSimulatedSteps);

}  // namespace hocket::selection
