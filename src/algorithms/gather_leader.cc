// SPDX-License-Identifier: BSD-3-Clause
// Gathered to a leader in each node, then among leaders to the root, which is its own node's leader.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for gather; Sistare,
//   vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: nodes-1 messages of p n between nodes (p ranks a node); within a node, (p-1) n are moved; n is one block.
//   Where ranks of a node are not neighbours, the root copies size n into order.
// Cost:  gather(p, n) + gather(nodes, p n).
// Restrictions: where nodes are uneven or blocks differ in length, only parts that take blocks of unequal lengths.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_gather_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross };

constexpr Part kParts[] = {{"node", Collective::kGather, Family::kNode, node_call},
                           {"across", Collective::kGather, Family::kAcross, leader_blocks_call}};

// To the root at once.
void gather_long(Builder& builder) {
  const uint32_t root = builder.root();
  if (builder.rank() != root) return builder.send(root, as_long(builder.input()));
  builder.begin_stage();
  builder.copy(as_long(builder.input()), as_long(builder.output_block(root)));
  for (uint32_t rank = 0; rank < builder.size(); ++rank)
    if (rank != root) builder.receive(rank, as_long(builder.output_block(rank)));
  builder.end_stage();
}

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t root = builder.root();
  const uint32_t node = nodes.node_of(builder.rank());
  const uint32_t leader = leader_of(nodes, node, root);
  const uint32_t ranks_here = nodes.ranks_on(node);
  const std::vector<uint32_t> cuts = node_cuts(nodes);
  const BlockRow output{builder.output(), ranks_in_order(nodes)};
  BlockRow row{like_row(nodes.ranks()), by_node(nodes)};
  Slice own = like_row(ranks_here);
  const Slice input = as_short(builder, builder.input());
  if (builder.rank() == root) {
    row = room_for(builder, row.blocks, output);
    own = Builder::parts_of(row.slice, cuts[node], cuts[node + 1], nodes.ranks());
  } else if (builder.rank() == leader) {
    own = ranks_here == 1 ? input : room_for(builder, as_blocks(nodes.ranks_of(node))).slice;
  }
  if (ranks_here > 1 || builder.rank() == root) {
    run_part(builder, gather_leader, kNode,
             {.ranks = nodes.ranks_of(node), .root = leader, .input = input, .output = own});
  }
  if (builder.rank() == leader) {
    run_part(builder, gather_leader, kAcross,
             {.ranks = leaders_of(nodes, root), .root = root, .input = own, .output = row.slice, .output_cuts = cuts});
  }
  if (builder.rank() == root) arrange(builder, row, output);
  if (builder.shape().varies) gather_long(builder);
}

}  // namespace of_gather_leader
}  // namespace

constinit const Algorithm gather_leader = {
    .collective = schedule::Collective::kGather,
    .name = "leader",
    .summary = "gathered to a leader in each node, then among leaders to the root",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_gather_leader::build,
    .root_relative = false,
    .takes_vectors = true,
    .passes_on = leader_passes_on,
    .parts = of_gather_leader::kParts,
};

}  // namespace hocket::algorithms
