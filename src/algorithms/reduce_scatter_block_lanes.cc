// SPDX-License-Identifier: BSD-3-Clause
// Within each node every carrier of a lane combines the blocks of the ranks at its place on all nodes; then ranks at
// equal places combine and scatter those. With fewer lanes than ranks, carriers pass on the blocks of those that carry
// nothing.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for
//   reduce-scatter; Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other; spread only where there are fewer lanes than ranks on a node.
// Bytes: with p ranks a node and L lanes, a carrier sends and receives (size-p)/L n; within a node, (p-1) size n are
//   moved; n is one block. Everyone copies size n into order, unless ranks lie so.
// Cost:  reduce_scatter(p, size/p n) + reduce_scatter(nodes, p/L n) + scatter(p/L, n).
// Restrictions: where nodes are uneven, lanes fewer than ranks, or blocks differ in length, only parts that take blocks
//   of unequal lengths; for operations that don't commute, nodes of neighbouring ranks.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/lane_exchange.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_lanes {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kSpread };

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {
    {"node", Collective::kReduceScatterBlock, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_aggregation(nodes, bytes, lanes, LaneOf::kDestination);
     }},
    {"across", Collective::kReduceScatterBlock, Family::kAcross,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return PartCall{bytes * members_of_lane(nodes, lanes), nodes.count(), !nodes.is_even()};
     }},
    {"spread", Collective::kScatter, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return PartCall{bytes, members_without_lane(nodes, lanes), false};
     }}};

// Combines this rank's lanes across nodes; in the end it has the blocks of its own node's ranks in `here`.
void cross(Builder& builder, const Lanes& lanes, const Slice& partial, uint32_t blocks, const Slice& here) {
  const uint32_t node = lanes.nodes().node_of(builder.rank());
  uint32_t first = 0;
  for (const uint32_t lane : lanes.lanes_of(builder.rank())) {
    const Bundles out = blocks_of_lane(lanes, lane);
    const bool has_members = out.cuts[node] != out.cuts[node + 1];
    run_part(builder, reduce_scatter_block_lanes, kAcross,
             {.ranks = lanes.carriers(lane),
              .root = lanes.carrier(0, lane),
              .input = Builder::parts_of(partial, first, first + out.cuts.back(), blocks),
              .output = has_members ? here : Slice{},
              .input_cuts = out.cuts});
    first += out.cuts.back();
  }
}

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), degree_of(builder, kDegrees));
  const Nodes& nodes = lanes.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const uint32_t place = nodes.place_of(builder.rank());
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  const Bundles all = blocks_by_carrier(lanes, node);
  const Slice row = arranged(builder, {builder.input(), ranks_in_order(nodes)}, all.blocks).slice;
  const uint32_t blocks = all.cuts[place + 1] - all.cuts[place];
  Slice partial = row;
  if (ranks.size() > 1) {
    partial = room_for(builder, {all.blocks.begin() + all.cuts[place], all.blocks.begin() + all.cuts[place + 1]}).slice;
    run_part(builder, reduce_scatter_block_lanes, kNode,
             {.ranks = ranks, .root = ranks[0], .input = row, .output = partial, .input_cuts = all.cuts});
  }
  if (ranks.size() <= lanes.count()) return cross(builder, lanes, partial, blocks, builder.output());
  const uint32_t lane = lanes.lane_of_place(place);
  const std::vector<uint32_t> members = lanes.members(node, lane);
  const bool is_carrier = place == lane;
  const auto count = static_cast<uint32_t>(members.size());
  // Who takes a part of it must know where it lies.
  const bool has_row = is_carrier || builder.shape().varies;
  const Slice here = has_row ? room_for(builder, as_blocks(members)).slice : like_row(count);
  if (is_carrier) cross(builder, lanes, partial, blocks, here);
  run_part(builder, reduce_scatter_block_lanes, kSpread,
           {.ranks = members, .root = members[0], .input = here, .output = builder.output()});
}

}  // namespace of_reduce_scatter_block_lanes
}  // namespace

constinit const Algorithm reduce_scatter_block_lanes = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "lanes",
    .summary = "combined by lanes within nodes, then each lane across nodes",
    .reference =
        "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (a subset of the cores)",
    .build = of_reduce_scatter_block_lanes::build,
    .root_relative = false,
    .can_keep_order = true,
    .takes_vectors = true,
    .degrees = of_reduce_scatter_block_lanes::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_reduce_scatter_block_lanes::kParts,
};

}  // namespace hocket::algorithms
