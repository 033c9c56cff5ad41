// SPDX-License-Identifier: BSD-3-Clause
// From the root to a leader in each node, then within the nodes.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader), for scatter; Sistare,
//   vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999).
// Steps: those of the parts, one after the other.
// Bytes: nodes-1 messages of p n between nodes (p ranks a node); within a node, (p-1) n are moved; n is one block.
//   Where ranks of a node are not neighbours, the root copies size n into order.
// Cost:  scatter(nodes, p n) + scatter(p, n).
// Restrictions: where nodes are uneven or blocks differ in length, only parts that take blocks of unequal lengths.
#include "algorithms/block_row.h"
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scatter_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kAcross, kNode };

constexpr Part kParts[] = {{"across", Collective::kScatter, Family::kAcross, leader_blocks_call},
                           {"node", Collective::kScatter, Family::kNode, node_call}};

// From the root at once.
void scatter_long(Builder& builder) {
  const uint32_t root = builder.root();
  if (builder.rank() != root) return builder.receive(root, as_long(builder.output()));
  builder.begin_stage();
  for (uint32_t rank = 0; rank < builder.size(); ++rank)
    if (rank != root) builder.send(rank, as_long(builder.input_block(rank)));
  builder.copy(as_long(builder.input_block(root)), as_long(builder.output()));
  builder.end_stage();
}

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const uint32_t root = builder.root();
  const uint32_t node = nodes.node_of(builder.rank());
  const uint32_t leader = leader_of(nodes, node, root);
  const uint32_t ranks_here = nodes.ranks_on(node);
  const std::vector<uint32_t> cuts = node_cuts(nodes);
  Slice row = like_row(nodes.ranks());
  Slice own = like_row(ranks_here);
  const Slice output = as_short(builder, builder.output());
  if (builder.rank() == root) {
    row = arranged(builder, {builder.input(), ranks_in_order(nodes)}, by_node(nodes)).slice;
    own = Builder::parts_of(row, cuts[node], cuts[node + 1], nodes.ranks());
  } else if (builder.rank() == leader) {
    own = ranks_here == 1 ? output : room_for(builder, as_blocks(nodes.ranks_of(node))).slice;
  }
  if (builder.rank() == leader) {
    run_part(builder, scatter_leader, kAcross,
             {.ranks = leaders_of(nodes, root), .root = root, .input = row, .output = own, .input_cuts = cuts});
  }
  if (ranks_here > 1 || builder.rank() == root) {
    run_part(builder, scatter_leader, kNode,
             {.ranks = nodes.ranks_of(node), .root = leader, .input = own, .output = output});
  }
  if (builder.shape().varies) scatter_long(builder);
}

}  // namespace of_scatter_leader
}  // namespace

constinit const Algorithm scatter_leader = {
    .collective = schedule::Collective::kScatter,
    .name = "leader",
    .summary = "from the root to a leader in each node, then within nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_scatter_leader::build,
    .root_relative = false,
    .takes_vectors = true,
    .passes_on = leader_passes_on,
    .parts = of_scatter_leader::kParts,
};

}  // namespace hocket::algorithms
