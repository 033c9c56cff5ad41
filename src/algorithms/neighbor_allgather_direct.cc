// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its block, and its neighbours copy it; to those on other nodes it goes as a message.
//
// Reference: as of allgather_direct, for the neighbours of each rank.
// Steps: one publication, and s gets and receives at a time; s are the sources of a rank.
// Bytes: a rank publishes n and reads s n; n is one block.
// Cost:  2 alpha + (s + 1) n beta within a node.
// Restrictions: a block fits into a slot.
#include "algorithms/neighbor_blocks.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_allgather_direct {

void build(schedule::Builder& builder) {
  const uint32_t rank = builder.rank();
  const schedule::Nodes* nodes = builder.shape().nodes;
  const std::vector<PeerBlocks> outgoing = by_destination(builder.neighbours(), rank);
  for (const PeerBlocks& to : outgoing) {
    if (to.peer == rank || !are_together(nodes, rank, to.peer)) continue;
    builder.publish(0, builder.input());
    break;
  }
  builder.begin_stage();
  for (const PeerBlocks& to : outgoing)
    for (size_t i = 0; i < to.blocks.size(); ++i)
      if (!are_together(nodes, rank, to.peer)) builder.send(to.peer, builder.input());
  for (const PeerBlocks& from : by_source(builder.neighbours(), rank)) {
    for (const uint32_t k : from.blocks) {
      const schedule::Slice block = block_in(builder, k);
      if (from.peer == rank) {
        builder.copy(builder.input(), block);
      } else if (are_together(nodes, rank, from.peer)) {
        builder.get({.peer = from.peer}, block);
      } else {
        builder.receive(from.peer, block);
      }
    }
  }
  builder.end_stage();
}

}  // namespace of_neighbor_allgather_direct
}  // namespace

constinit const Algorithm neighbor_allgather_direct = {
    .collective = schedule::Collective::kNeighborAllgather,
    .name = "direct",
    .summary = "everyone publishes its block, its neighbours copy it; messages between nodes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_neighbor_allgather_direct::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
