// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its row of blocks, and who is among its destinations copies its own out of it; what goes to
// another node is a message.
//
// Reference: as of alltoall_direct, for the neighbours of each rank.
// Steps: one publication, and s gets and receives at a time; s are the sources of a rank.
// Bytes: a rank publishes d n and reads s n; d are its destinations, n is one block.
// Cost:  2 alpha + (d + s) n beta within a node.
// Restrictions: the longest row of blocks fits into a slot.
#include "algorithms/neighbor_blocks.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_alltoall_direct {

using schedule::Builder;
using schedule::Slice;

// The whole input of a rank that has so many destinations.
Slice row_of(uint32_t destinations) {
  Slice row;
  row.buffer = schedule::Buffer::kInput;
  row.blocks = destinations;
  row.last = 1;
  return row;
}

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const schedule::Neighbours& neighbours = builder.neighbours();
  const schedule::Nodes* nodes = builder.shape().nodes;
  const std::vector<PeerBlocks> outgoing = by_destination(neighbours, rank);
  for (const PeerBlocks& to : outgoing) {
    if (to.peer == rank || !are_together(nodes, rank, to.peer)) continue;
    builder.publish(0, builder.input());
    break;
  }
  builder.begin_stage();
  for (const PeerBlocks& to : outgoing)
    if (!are_together(nodes, rank, to.peer))
      for (const uint32_t k : to.blocks) builder.send(to.peer, block_out(builder, k));
  for (const PeerBlocks& from : by_source(neighbours, rank)) {
    if (from.peer == rank) continue;
    const auto count = static_cast<uint32_t>(neighbours.destinations(from.peer).size());
    for (const uint32_t k : from.blocks) {
      if (are_together(nodes, rank, from.peer)) {
        const Slice row = row_of(count);
        const Slice block = Builder::part(row, neighbours.origins(rank)[k], count);
        builder.get({.peer = from.peer, .part = block, .whole = row}, block_in(builder, k));
      } else {
        builder.receive(from.peer, block_in(builder, k));
      }
    }
  }
  copy_own_blocks(builder);
  builder.end_stage();
}

}  // namespace of_neighbor_alltoall_direct
}  // namespace

constinit const Algorithm neighbor_alltoall_direct = {
    .collective = schedule::Collective::kNeighborAlltoall,
    .name = "direct",
    .summary = "everyone publishes its row, its neighbours copy their blocks out of it; messages between nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_neighbor_alltoall_direct::build,
    .root_relative = false,
    .publishes_rows = true,
};

}  // namespace hocket::algorithms
