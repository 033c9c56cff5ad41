// SPDX-License-Identifier: BSD-3-Clause
// Everyone sends its block to each of its neighbours, once to each rank; who has a neighbour several times copies what
// has come.
//
// Reference: MPI 4.1, section 8.6, which says by such messages what neighbourhood collectives mean.
// Steps: 1, and a copy after it where neighbours occur several times.
// Bytes: a rank sends d n and receives s n; d and s are the different ranks among its destinations and sources, n is
//   one block.
// Cost:  max(d, s) alpha + max(d, s) n beta.
// Restrictions: none.
#include "algorithms/neighbor_blocks.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_allgather_linear {

void build(schedule::Builder& builder) {
  const uint32_t rank = builder.rank();
  const std::vector<PeerBlocks> incoming = by_source(builder.neighbours(), rank);
  builder.begin_stage();
  for (const PeerBlocks& to : by_destination(builder.neighbours(), rank))
    if (to.peer != rank) builder.send(to.peer, builder.input());
  for (const PeerBlocks& from : incoming) {
    const schedule::Slice first = block_in(builder, from.blocks.front());
    if (from.peer != rank) {
      builder.receive(from.peer, first);
    } else {
      builder.copy(builder.input(), first);
    }
  }
  builder.end_stage();
  builder.begin_stage();
  for (const PeerBlocks& from : incoming)
    for (size_t i = 1; i < from.blocks.size(); ++i)
      builder.copy(block_in(builder, from.blocks.front()), block_in(builder, from.blocks[i]));
  builder.end_stage();
}

}  // namespace of_neighbor_allgather_linear
}  // namespace

constinit const Algorithm neighbor_allgather_linear = {
    .collective = schedule::Collective::kNeighborAllgather,
    .name = "linear",
    .summary = "everyone sends its block to each of its neighbours",
    .reference = "MPI 4.1, section 8.6",
    .build = of_neighbor_allgather_linear::build,
    .root_relative = false,
    .takes_vectors = true,
};

}  // namespace hocket::algorithms
