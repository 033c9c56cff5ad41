// SPDX-License-Identifier: BSD-3-Clause
// A leader a node: reduced to it within the node, then among leaders to the root, which is its own node's leader.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for reduce; Sistare,
//   vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: nodes-1 messages of n between nodes; within a node, (p-1) n are moved (p ranks a node).
// Cost:  reduce(p, n) + reduce(nodes, n).
// Restrictions: for operations that don't commute, nodes of neighbouring ranks, and a root other than 0 costs a
// message.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross };

constexpr Part kParts[] = {{"node", Collective::kReduce, Family::kNode, node_call},
                           {"across", Collective::kReduce, Family::kAcross, leader_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const Collector collector = collector_of(builder);
  const uint32_t leader = leader_of(nodes, node, collector.rank);
  Slice result = collector.result;
  if (builder.rank() == leader && leader != collector.rank) result = scratch_like(builder, builder.input());
  run_part(builder, reduce_leader, kNode,
           {.ranks = nodes.ranks_of(node), .root = leader, .input = builder.input(), .output = result});
  if (builder.rank() == leader) {
    run_part(builder, reduce_leader, kAcross,
             {.ranks = leaders_of(nodes, collector.rank),
              .root = collector.rank,
              .input = result,
              .output = collector.result});
  }
  send_on(builder, collector);
}

}  // namespace of_reduce_leader
}  // namespace

constinit const Algorithm reduce_leader = {
    .collective = schedule::Collective::kReduce,
    .name = "leader",
    .summary = "reduced to a leader in each node, then among leaders to the root",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_reduce_leader::build,
    .root_relative = false,
    .can_keep_order = true,
    .parts = of_reduce_leader::kParts,
};

}  // namespace hocket::algorithms
