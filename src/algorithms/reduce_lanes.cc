// SPDX-License-Identifier: BSD-3-Clause
// Within each node every carrier of a lane combines its share of the message; shares are reduced to the root's node
// lane by lane, where the root collects them: all cores have a part in the traffic between nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for reduce;
//   Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node and L lanes, a carrier sends n/L; within a node, (p-1) n are moved, and n at the root.
// Cost:  reduce_scatter(p, n) + reduce(nodes, n/L) + gather(p, n).
// Restrictions: for operations that don't commute, nodes of neighbouring ranks, and a root other than 0 costs a
//   message; where lanes are fewer than ranks or nodes uneven, parts whose blocks may differ in length.
#include "algorithms/composition.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_lanes {

using schedule::Builder;
using schedule::Collective;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kCollect };

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {{"node", Collective::kReduceScatterBlock, Family::kNode, run_call},
                           {"across", Collective::kReduce, Family::kAcross, lane_call},
                           {"collect", Collective::kGather, Family::kNode, run_blocks_call}};

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), degree_of(builder, kDegrees));
  const uint32_t node = lanes.nodes().node_of(builder.rank());
  const uint32_t place = lanes.nodes().place_of(builder.rank());
  const std::vector<uint32_t>& ranks = lanes.nodes().ranks_of(node);
  const std::vector<uint32_t> cuts = lanes.run_cuts(node);
  const Collector collector = collector_of(builder);
  const uint32_t home = lanes.nodes().node_of(collector.rank);
  const auto share = [&](uint32_t first, uint32_t last) {
    return Builder::parts_of(builder.input(), first, last, lanes.count());
  };
  const Slice own = share(cuts[place], cuts[place + 1]);
  const bool is_alone = ranks.size() == 1;
  const bool has_share = !own.is_empty();
  const Slice partial = has_share && !is_alone ? scratch_like(builder, own) : own;
  const Slice result = has_share && node == home ? scratch_like(builder, own) : own;
  const auto lane_of = [&](const Slice& area, uint32_t lane) {
    const Slice all = share(lane, lane + 1);
    return area.buffer == schedule::Buffer::kScratch ? Builder::in_scratch(area.area, all, own) : all;
  };
  if (!is_alone) {
    run_part(builder, reduce_lanes, kNode,
             {.ranks = ranks, .root = ranks[0], .input = builder.input(), .output = partial, .input_cuts = cuts});
  }
  for (uint32_t lane = cuts[place]; lane < cuts[place + 1]; ++lane) {
    run_part(builder, reduce_lanes, kAcross,
             {.ranks = lanes.runners(lane),
              .root = lanes.runner(home, lane),
              .input = lane_of(partial, lane),
              .output = lane_of(result, lane)});
  }
  if (node == home) {
    run_part(
        builder, reduce_lanes, kCollect,
        {.ranks = ranks, .root = collector.rank, .input = result, .output = collector.result, .output_cuts = cuts});
  }
  send_on(builder, collector);
}

}  // namespace of_reduce_lanes
}  // namespace

constinit const Algorithm reduce_lanes = {
    .collective = schedule::Collective::kReduce,
    .name = "lanes",
    .summary = "scattered by lanes within nodes, each lane reduced to the root's node, collected there",
    .reference =
        "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (a subset of the cores)",
    .build = of_reduce_lanes::build,
    .root_relative = false,
    .can_keep_order = true,
    .degrees = of_reduce_lanes::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_reduce_lanes::kParts,
};

}  // namespace hocket::algorithms
