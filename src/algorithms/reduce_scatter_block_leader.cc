// SPDX-License-Identifier: BSD-3-Clause
// Reduced to a leader in each node, combined and scattered among leaders, then scattered within the nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for reduce-scatter;
//   Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node, a leader sends and receives (size-p) n; within a node, (p-1) (size+1) n are moved; n is
//   one block. Where ranks of a node are not neighbours, everyone copies size n into order.
// Cost:  reduce(p, size n) + reduce_scatter(nodes, p n) + scatter(p, n).
// Restrictions: where nodes are uneven or blocks differ in length, only parts that take blocks of unequal lengths; for
//   operations that don't commute, nodes of neighbouring ranks.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kSpread };

constexpr Part kParts[] = {
    {"node", Collective::kReduce, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t) { return PartCall{bytes * nodes.ranks(), nodes.most(), false}; }},
    {"across", Collective::kReduceScatterBlock, Family::kAcross, leader_blocks_call},
    {"spread", Collective::kScatter, Family::kNode, node_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  const bool is_alone = ranks.size() == 1;
  const bool is_leader = builder.rank() == ranks[0];
  const Slice row = arranged(builder, {builder.input(), ranks_in_order(nodes)}, by_node(nodes)).slice;
  Slice partial = row;
  Slice here = is_alone ? builder.output() : like_row(nodes.ranks_on(node));
  if (!is_alone) {
    if (is_leader) partial = room_for(builder, by_node(nodes)).slice;
    // Who takes a part of it must know where it lies.
    if (is_leader || builder.shape().varies) here = room_for(builder, as_blocks(ranks)).slice;
    run_part(builder, reduce_scatter_block_leader, kNode,
             {.ranks = ranks, .root = ranks[0], .input = row, .output = partial});
  }
  if (is_leader) {
    run_part(
        builder, reduce_scatter_block_leader, kAcross,
        {.ranks = leaders_of(nodes, 0), .root = 0, .input = partial, .output = here, .input_cuts = node_cuts(nodes)});
  }
  if (!is_alone) {
    run_part(builder, reduce_scatter_block_leader, kSpread,
             {.ranks = ranks, .root = ranks[0], .input = here, .output = builder.output()});
  }
}

}  // namespace of_reduce_scatter_block_leader
}  // namespace

constinit const Algorithm reduce_scatter_block_leader = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "leader",
    .summary = "reduced to a leader in each node, combined and scattered among leaders, then within nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_reduce_scatter_block_leader::build,
    .root_relative = false,
    .can_keep_order = true,
    .takes_vectors = true,
    .parts = of_reduce_scatter_block_leader::kParts,
};

}  // namespace hocket::algorithms
