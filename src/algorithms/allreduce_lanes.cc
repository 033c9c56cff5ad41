// SPDX-License-Identifier: BSD-3-Clause
// Within each node every carrier of a lane combines its share of the message, shares are combined across nodes lane by
// lane, and collected within the nodes: all cores have a part in the traffic between nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for
//   allreduce; Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node and L lanes, a carrier sends about 2 n/L; within a node, 2 (p-1) n are moved.
// Cost:  reduce_scatter(p, n) + allreduce(nodes, n/L) + allgather(p, n).
// Restrictions: for operations that don't commute, nodes of neighbouring ranks; where lanes are fewer than ranks or
//   nodes uneven, parts whose blocks may differ in length.
#include "algorithms/composition.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_lanes {

using schedule::Builder;
using schedule::Collective;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kSpread };

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {{"node", Collective::kReduceScatterBlock, Family::kNode, run_call},
                           {"across", Collective::kAllreduce, Family::kAcross, lane_call},
                           {"spread", Collective::kAllgather, Family::kNode, run_blocks_call}};

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), degree_of(builder, kDegrees));
  const uint32_t node = lanes.nodes().node_of(builder.rank());
  const uint32_t place = lanes.nodes().place_of(builder.rank());
  const std::vector<uint32_t>& ranks = lanes.nodes().ranks_of(node);
  const std::vector<uint32_t> cuts = lanes.run_cuts(node);
  const auto share = [&](const Slice& message, uint32_t first, uint32_t last) {
    return Builder::parts_of(message, first, last, lanes.count());
  };
  const Slice own = share(builder.output(), cuts[place], cuts[place + 1]);
  // In place, peers still read this rank's input while the share is being combined.
  const bool is_alone = ranks.size() == 1;
  const bool in_scratch = builder.in_place() && !is_alone && !own.is_empty();
  const Slice partial = in_scratch ? scratch_like(builder, own) : own;
  if (!is_alone) {
    run_part(builder, allreduce_lanes, kNode,
             {.ranks = ranks, .root = ranks[0], .input = builder.input(), .output = partial, .input_cuts = cuts});
  }
  for (uint32_t lane = cuts[place]; lane < cuts[place + 1]; ++lane) {
    const Slice all = share(builder.output(), lane, lane + 1);
    const Slice from_node = in_scratch ? Builder::in_scratch(partial.area, all, own) : all;
    run_part(builder, allreduce_lanes, kAcross,
             {.ranks = lanes.runners(lane),
              .root = lanes.runner(0, lane),
              .input = is_alone ? share(builder.input(), lane, lane + 1) : from_node,
              .output = all});
  }
  if (!is_alone) {
    run_part(builder, allreduce_lanes, kSpread,
             {.ranks = ranks, .root = ranks[0], .input = own, .output = builder.output(), .output_cuts = cuts});
  }
}

}  // namespace of_allreduce_lanes
}  // namespace

constinit const Algorithm allreduce_lanes = {
    .collective = schedule::Collective::kAllreduce,
    .name = "lanes",
    .summary = "scattered by lanes within nodes, each lane combined across nodes, collected within nodes",
    .reference =
        "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (a subset of the cores)",
    .build = of_allreduce_lanes::build,
    .root_relative = false,
    .can_keep_order = true,
    .degrees = of_allreduce_lanes::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_allreduce_lanes::kParts,
};

}  // namespace hocket::algorithms
