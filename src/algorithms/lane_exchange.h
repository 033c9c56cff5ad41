// SPDX-License-Identifier: BSD-3-Clause
// Alltoall by lanes: what a node has for another goes by way of the carriers of lanes (composition.h).
//
// 1. Within the node, every block goes to the carrier of its lane.
// 2. Across nodes, the carriers of each lane exchange: one message for each pair of nodes and lane.
// 3. Within the node, carriers hand every block to whom it is for.
// A block's lane is its destination's or its source's place on its node, modulo the number of lanes. By destination,
// and with a lane for every rank, step 3 has nothing to do (send aggregation); by source, step 1 (receive
// distribution). With one lane its carrier is a leader.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>

#include "algorithms/block_row.h"
#include "algorithms/composition.h"

namespace hocket::algorithms {

enum class LaneOf : uint8_t { kDestination, kSource };

// `composition` has the parts node, across and spread, in this order.
void exchange_by_lanes(schedule::Builder& builder, const Algorithm& composition, uint32_t lanes, LaneOf by);

// As Algorithm::passes_on: the carriers of lanes.
std::vector<uint32_t> carriers_pass_on(const schedule::Nodes& nodes, uint32_t node, uint32_t lanes);

// The calls of the parts.
PartCall lane_aggregation(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes, LaneOf by);
PartCall lane_crossing(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes);
PartCall lane_distribution(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes, LaneOf by);

// Where a block is known by its rank: those of a lane's members, node by node, and of all lanes of each of a node's
// ranks.
Bundles blocks_of_lane(const Lanes& lanes, uint32_t lane);
Bundles blocks_by_carrier(const Lanes& lanes, uint32_t node);

// On the largest node: the ranks at a lane's places, and 0 instead where each has a lane of its own.
uint32_t members_of_lane(const schedule::Nodes& nodes, uint32_t lanes);
uint32_t members_without_lane(const schedule::Nodes& nodes, uint32_t lanes);

}  // namespace hocket::algorithms
