// SPDX-License-Identifier: BSD-3-Clause
// A call of a figure's model: which collective by which algorithm on which network, as the fields of an item's `model`
// say (src/simulation/papers/README.md), and what the simulation finds out of it.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "reproduce/papers.h"
#include "simulate/simulation.h"

namespace hocket::reproduce {

// `x` put where an axis called so puts it: nodes, ranks (of one node), cores (of nodes as full as `ppn` says), levels
// (of a chain, or children of a flat tree: nodes - 1), missed (%, of a multicast's receivers), or a field.
Json at_x(const Json& call, const std::string& axis, double x);

// Of how many ranks it is.
uint32_t ranks_of(const Json& call);

// Which rank of what is simulated is the call's rank: its `tree` may number them otherwise.
size_t simulated_rank(const Json& call, size_t rank);

// What is refused, and networks that are not there, are errors.
Result<command::Simulated> simulate_call(const Json& call);

}  // namespace hocket::reproduce
