// SPDX-License-Identifier: BSD-3-Clause
// A leader a node: reduced to it within the node, combined among leaders, broadcast within the node.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for allreduce;
//   Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: a node sends what a rank of the part across does, about 2 n; within it, 2 (p-1) n are moved (p ranks a node).
// Cost:  reduce(p, n) + allreduce(nodes, n) + broadcast(p, n).
// Restrictions: for operations that don't commute, nodes of neighbouring ranks.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_leader {

using schedule::Builder;
using schedule::Collective;

enum : uint32_t { kReduce, kAcross, kSpread };

constexpr Part kParts[] = {{"node", Collective::kReduce, Family::kNode, node_call},
                           {"across", Collective::kAllreduce, Family::kAcross, leader_call, true},
                           {"spread", Collective::kBroadcast, Family::kNode, node_call}};

void build(Builder& builder) {
  const Lanes lanes(builder.nodes(), 1);
  const uint32_t node = lanes.nodes().node_of(builder.rank());
  const uint32_t leader = lanes.carrier(node, 0);
  const std::vector<uint32_t>& ranks = lanes.nodes().ranks_of(node);
  run_part(builder, allreduce_leader, kReduce,
           {.ranks = ranks, .root = leader, .input = builder.input(), .output = builder.output()});
  if (builder.rank() == leader) {
    run_part(builder, allreduce_leader, kAcross,
             {.ranks = {},
              .shared_ranks = lanes.nodes().lowest_ranks(),
              .input = builder.output(),
              .output = builder.output()});
  }
  run_part(builder, allreduce_leader, kSpread, {.ranks = ranks, .root = leader, .output = builder.output()});
}

}  // namespace of_allreduce_leader
}  // namespace

constinit const Algorithm allreduce_leader = {
    .collective = schedule::Collective::kAllreduce,
    .name = "leader",
    .summary = "reduced to a leader in each node, combined among leaders, broadcast in the nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_allreduce_leader::build,
    .root_relative = false,
    .can_keep_order = true,
    .parts = of_allreduce_leader::kParts,
};

}  // namespace hocket::algorithms
