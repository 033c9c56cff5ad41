// SPDX-License-Identifier: BSD-3-Clause
// From the root to a leader in each node, then within the nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for broadcast;
//   Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: nodes-1 messages of n between nodes; within a node, (p-1) n are moved (p ranks a node).
// Cost:  broadcast(nodes, n) + broadcast(p, n).
// Restrictions: none.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kAcross, kNode };

constexpr Part kParts[] = {{"across", Collective::kBroadcast, Family::kAcross, leader_call, true},
                           {"node", Collective::kBroadcast, Family::kNode, node_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const uint32_t source = leader_for_root(builder);
  const uint32_t leader = leader_of(nodes, node, source);
  const bool is_served = builder.rank() == builder.root() && builder.root() != source;
  if (is_served) builder.send(source, builder.output());
  if (builder.rank() == leader) {
    if (leader == source && source != builder.root()) builder.receive(builder.root(), builder.output());
    run_part(builder, broadcast_leader, kAcross,
             {.ranks = leaders_of(nodes, source), .root = source, .output = builder.output()});
  }
  // A root's buffer isn't written to, which the program may be reading.
  const Slice own = is_served ? scratch_like(builder, builder.output()) : builder.output();
  run_part(builder, broadcast_leader, kNode, {.ranks = nodes.ranks_of(node), .root = leader, .output = own});
}

}  // namespace of_broadcast_leader
}  // namespace

constinit const Algorithm broadcast_leader = {
    .collective = schedule::Collective::kBroadcast,
    .name = "leader",
    .summary = "from the root to a leader in each node, then within nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_broadcast_leader::build,
    .root_relative = false,
    .parts = of_broadcast_leader::kParts,
};

}  // namespace hocket::algorithms
