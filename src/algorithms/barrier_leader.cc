// SPDX-License-Identifier: BSD-3-Clause
// Within the nodes, then among leaders, one a node, which then release their nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for barrier; Sistare,
//   vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: none; between nodes, the messages of the part across.
// Cost:  barrier(p) + barrier(nodes) + broadcast(p, 0), with p ranks a node.
// Restrictions: none.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
enum : uint32_t { kNode, kAcross, kRelease };

constexpr Part kParts[] = {{"node", Collective::kBarrier, Family::kNode, node_call},
                           {"across", Collective::kBarrier, Family::kAcross, leader_call, true},
                           {"release", Collective::kBroadcast, Family::kNode, node_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const std::vector<uint32_t>& ranks = nodes.ranks_of(nodes.node_of(builder.rank()));
  run_part(builder, barrier_leader, kNode, {.ranks = ranks, .root = ranks[0]});
  if (nodes.count() == 1) return;
  if (builder.rank() == ranks[0]) {
    run_part(builder, barrier_leader, kAcross, {.ranks = {}, .shared_ranks = nodes.lowest_ranks()});
  }
  run_part(builder, barrier_leader, kRelease, {.ranks = ranks, .root = ranks[0]});
}

}  // namespace of_barrier_leader
}  // namespace

constinit const Algorithm barrier_leader = {
    .collective = schedule::Collective::kBarrier,
    .name = "leader",
    .summary = "within nodes, then among leaders, who release their nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_barrier_leader::build,
    .root_relative = false,
    .parts = of_barrier_leader::kParts,
};

}  // namespace hocket::algorithms
