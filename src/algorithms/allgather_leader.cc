// SPDX-License-Identifier: BSD-3-Clause
// Gathered to a leader in each node, collected among leaders, broadcast within the nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for allgather;
//   Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node, a leader sends and receives (size-p) n; within a node, (p-1) (size+1) n are moved; n is
//   one block. Where ranks of a node are not neighbours, the leader copies size n into order.
// Cost:  gather(p, n) + allgather(nodes, p n) + broadcast(p, size n).
// Restrictions: where nodes are uneven or blocks differ in length, only parts that take blocks of unequal lengths.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kSpread };

constexpr Part kParts[] = {
    {"node", Collective::kGather, Family::kNode, node_call},
    {"across", Collective::kAllgather, Family::kAcross, leader_blocks_call, true},
    {"spread", Collective::kBroadcast, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t) {
       return PartCall{bytes * nodes.ranks(), nodes.most(), false};
     }}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  const bool is_leader = builder.rank() == ranks[0];
  const std::vector<uint32_t> cuts = node_cuts(nodes);
  const BlockRow output{builder.output(), ranks_in_order(nodes)};
  // Where blocks lie apart, what is broadcast is the row.
  const bool has_row = is_leader || builder.blocks_lie_apart();
  const BlockRow row = has_row ? room_for(builder, by_node(nodes), output) : output;
  const Slice own = Builder::parts_of(row.slice, cuts[node], cuts[node + 1], nodes.ranks());
  run_part(builder, allgather_leader, kNode,
           {.ranks = ranks, .root = ranks[0], .input = builder.input(), .output = own});
  if (is_leader) {
    run_part(builder, allgather_leader, kAcross,
             {.ranks = leaders_of(nodes, 0), .root = 0, .input = own, .output = row.slice, .output_cuts = cuts});
    if (!builder.blocks_lie_apart()) arrange(builder, row, output);
  }
  const Slice all = builder.blocks_lie_apart() ? row.slice : builder.output();
  run_part(builder, allgather_leader, kSpread, {.ranks = ranks, .root = ranks[0], .output = all});
  if (builder.blocks_lie_apart()) arrange(builder, row, output);
}

}  // namespace of_allgather_leader
}  // namespace

constinit const Algorithm allgather_leader = {
    .collective = schedule::Collective::kAllgather,
    .name = "leader",
    .summary = "gathered to a leader in each node, collected among leaders, broadcast within nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_allgather_leader::build,
    .root_relative = false,
    .takes_vectors = true,
    .parts = of_allgather_leader::kParts,
};

}  // namespace hocket::algorithms
