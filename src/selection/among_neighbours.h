// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm serves a call among neighbours, and why: by force, by the table's rules, whose conditions mean what
// they mean for other collectives (bytes= is of one block), or by what the plans of some ranks cost.
//
// The cost is no simulation, which would need the plans of all ranks: the steps of a rank cost what their kinds and
// bytes say, one after the other, and each stage waits for its peers once. The rank for whom that takes longest counts.
// Everything that is asked is the same on all ranks, so all ranks come to the same choice.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <vector>

#include "schedule/neighbours.h"
#include "selection/choice.h"

namespace hocket::selection {

Result<Choice> choose_among_neighbours(const Query& query, const schedule::Neighbours& neighbours, const Table& table,
                                       const Spec* forced);

// What it would choose and why, and what it would cost, as text of several lines.
std::string explain_among_neighbours(const Query& query, const schedule::Neighbours& neighbours, const Table& table,
                                     const Spec* forced);

// Why `spec` can't serve the call, or "".
std::string why_not_among_neighbours(const Query& query, const schedule::Neighbours& neighbours, const Spec& spec);

// In microseconds; the algorithm can serve the call.
double price_among_neighbours(const Query& query, const schedule::Neighbours& neighbours,
                              const algorithms::Algorithm& algorithm, const CostParameters& parameters);

struct NeighbourPrediction {
  const algorithms::Algorithm* algorithm = nullptr;
  double us = 0;
};
// Of all that can serve the call, the cheapest first, equally cheap ones in the registry's order.
std::vector<NeighbourPrediction> predict_among_neighbours(const Query& query, const schedule::Neighbours& neighbours,
                                                          const CostParameters& parameters);

}  // namespace hocket::selection
