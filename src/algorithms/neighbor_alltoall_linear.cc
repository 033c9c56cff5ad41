// SPDX-License-Identifier: BSD-3-Clause
// Each block is a message of its own, straight to its neighbour; all of them at a time.
//
// Reference: MPI 4.1, section 8.6, which says by such messages what neighbourhood collectives mean.
// Steps: 1.
// Bytes: a rank sends d n and receives s n; d and s are its destinations and sources, n is one block.
// Cost:  max(d, s) alpha + max(d, s) n beta.
// Restrictions: none.
#include "algorithms/neighbor_blocks.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_alltoall_linear {

void build(schedule::Builder& builder) {
  const uint32_t rank = builder.rank();
  builder.begin_stage();
  for (const PeerBlocks& to : by_destination(builder.neighbours(), rank))
    for (const uint32_t k : to.blocks)
      if (to.peer != rank) builder.send(to.peer, block_out(builder, k));
  for (const PeerBlocks& from : by_source(builder.neighbours(), rank))
    for (const uint32_t k : from.blocks)
      if (from.peer != rank) builder.receive(from.peer, block_in(builder, k));
  copy_own_blocks(builder);
  builder.end_stage();
}

}  // namespace of_neighbor_alltoall_linear
}  // namespace

constinit const Algorithm neighbor_alltoall_linear = {
    .collective = schedule::Collective::kNeighborAlltoall,
    .name = "linear",
    .summary = "each block is a message of its own to its neighbour",
    .reference = "MPI 4.1, section 8.6",
    .build = of_neighbor_alltoall_linear::build,
    .root_relative = false,
    .takes_vectors = true,
};

}  // namespace hocket::algorithms
