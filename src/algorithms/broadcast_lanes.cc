// SPDX-License-Identifier: BSD-3-Clause
// Within the root's node first; then every carrier of a lane sends its share on to other nodes, and those collect the
// shares: all cores have a part in the traffic between nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for
//   broadcast; Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node and L lanes, nodes-1 messages of n/L a lane; within a node, (p-1) n are moved.
// Cost:  broadcast(p, n) + broadcast(nodes, n/L) + allgather(p, n).
// Restrictions: where lanes are fewer than ranks or nodes uneven, parts whose blocks may differ in length.
#include "algorithms/composition.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_lanes {

using schedule::Builder;
using schedule::Collective;

enum : uint32_t { kNode, kAcross, kCollect };

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {{"node", Collective::kBroadcast, Family::kNode, node_call},
                           {"across", Collective::kBroadcast, Family::kAcross, lane_call},
                           {"collect", Collective::kAllgather, Family::kNode, run_blocks_call}};

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), degree_of(builder, kDegrees));
  const uint32_t node = lanes.nodes().node_of(builder.rank());
  const uint32_t place = lanes.nodes().place_of(builder.rank());
  const uint32_t home = lanes.nodes().node_of(builder.root());
  const std::vector<uint32_t>& ranks = lanes.nodes().ranks_of(node);
  const std::vector<uint32_t> cuts = lanes.run_cuts(node);
  const auto share = [&](uint32_t first, uint32_t last) {
    return Builder::parts_of(builder.output(), first, last, lanes.count());
  };
  if (node == home) {
    run_part(builder, broadcast_lanes, kNode, {.ranks = ranks, .root = builder.root(), .output = builder.output()});
  }
  for (uint32_t lane = cuts[place]; lane < cuts[place + 1]; ++lane) {
    run_part(builder, broadcast_lanes, kAcross,
             {.ranks = lanes.runners(lane), .root = lanes.runner(home, lane), .output = share(lane, lane + 1)});
  }
  if (node != home && ranks.size() > 1) {
    run_part(builder, broadcast_lanes, kCollect,
             {.ranks = ranks,
              .root = ranks[0],
              .input = share(cuts[place], cuts[place + 1]),
              .output = builder.output(),
              .output_cuts = cuts});
  }
}

}  // namespace of_broadcast_lanes
}  // namespace

constinit const Algorithm broadcast_lanes = {
    .collective = schedule::Collective::kBroadcast,
    .name = "lanes",
    .summary = "within the root's node, then each lane across nodes, then collected within nodes",
    .reference =
        "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (a subset of the cores)",
    .build = of_broadcast_lanes::build,
    .root_relative = false,
    .degrees = of_broadcast_lanes::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_broadcast_lanes::kParts,
};

}  // namespace hocket::algorithms
