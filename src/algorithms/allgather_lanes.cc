// SPDX-License-Identifier: BSD-3-Clause
// Ranks at equal places collect each other's blocks, then every node collects what its ranks have: all cores have a
// part in the traffic between nodes. With fewer lanes than ranks, carriers first gather the blocks of those that carry
// nothing.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for
//   allgather; Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other; node only where there are fewer lanes than ranks on a node.
// Bytes: with p ranks a node and L lanes, a carrier sends and receives (size-p)/L n; within a node, (p-1) size n are
//   moved; n is one block. Everyone copies size n into order, unless ranks lie so.
// Cost:  gather(p/L, n) + allgather(nodes, p/L n) + allgather(p, size/p n).
// Restrictions: where nodes are uneven, lanes fewer than ranks, or blocks differ in length, only parts that take blocks
//   of unequal lengths.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/lane_exchange.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_lanes {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kCollect };

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {
    {"node", Collective::kGather, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return PartCall{bytes, members_without_lane(nodes, lanes), false};
     }},
    {"across", Collective::kAllgather, Family::kAcross,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return PartCall{bytes * members_of_lane(nodes, lanes), nodes.count(), !nodes.is_even()};
     }},
    {"collect", Collective::kAllgather, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_aggregation(nodes, bytes, lanes, LaneOf::kDestination);
     }}};

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), degree_of(builder, kDegrees));
  const Nodes& nodes = lanes.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const uint32_t place = nodes.place_of(builder.rank());
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  const Bundles all = blocks_by_carrier(lanes, node);
  const BlockRow output{builder.output(), ranks_in_order(nodes)};
  const BlockRow row = room_for(builder, all.blocks, output);
  const auto blocks = [&](uint32_t first, uint32_t last) {
    return Builder::parts_of(row.slice, first, last, nodes.ranks());
  };
  if (ranks.size() > lanes.count()) {
    const uint32_t lane = lanes.lane_of_place(place);
    const uint32_t carrier = lanes.carrier(node, lane);
    const std::vector<uint32_t> members = lanes.members(node, lane);
    // At the carrier, where they belong in the row.
    const uint32_t first = all.cuts[lane] + blocks_of_lane(lanes, lane).cuts[node];
    run_part(builder, allgather_lanes, kNode,
             {.ranks = members,
              .root = carrier,
              .input = builder.input(),
              .output = blocks(first, first + static_cast<uint32_t>(members.size()))});
  }
  uint32_t first = all.cuts[place];
  for (const uint32_t lane : lanes.lanes_of(builder.rank())) {
    const Bundles in = blocks_of_lane(lanes, lane);
    const bool is_own = ranks.size() <= lanes.count();
    const Slice here = blocks(first + in.cuts[node], first + in.cuts[node + 1]);
    run_part(builder, allgather_lanes, kAcross,
             {.ranks = lanes.carriers(lane),
              .root = lanes.carrier(0, lane),
              .input = is_own && !here.is_empty() ? builder.input() : here,
              .output = blocks(first, first + in.cuts.back()),
              .output_cuts = in.cuts});
    first += in.cuts.back();
  }
  if (ranks.size() > 1) {
    run_part(builder, allgather_lanes, kCollect,
             {.ranks = ranks,
              .root = ranks[0],
              .input = blocks(all.cuts[place], all.cuts[place + 1]),
              .output = row.slice,
              .output_cuts = all.cuts});
  }
  arrange(builder, row, output);
}

}  // namespace of_allgather_lanes
}  // namespace

constinit const Algorithm allgather_lanes = {
    .collective = schedule::Collective::kAllgather,
    .name = "lanes",
    .summary = "each lane collected across nodes, then lanes within nodes",
    .reference =
        "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (a subset of the cores)",
    .build = of_allgather_lanes::build,
    .root_relative = false,
    .takes_vectors = true,
    .degrees = of_allgather_lanes::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_allgather_lanes::kParts,
};

}  // namespace hocket::algorithms
