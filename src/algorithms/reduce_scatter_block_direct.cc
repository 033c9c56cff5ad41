// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its row of blocks and combines its own block out of all, in rank order: one scheduling round.
//
// Reference: the reduce-scatter half of allreduce direct; Chan, Heimlich, Purkayastha, van de Geijn, Collective
//   communication: theory, practice, and experience (2007).
// Steps: one publication, and size-1 combinations in a chain.
// Bytes: a rank reads (size-1) n and publishes size n; n is one block.
// Cost:  2 alpha + size n beta + (size-1) n (beta + gamma).
// Restrictions: a row of size blocks fits into a slot.
#include "algorithms/combining.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_direct {

using schedule::Builder;

void build(Builder& builder) {
  const schedule::Slice mine = builder.input_block(builder.rank());
  if (builder.size() > 1) builder.publish(0, builder.input());
  if (mine.is_empty()) return;
  combine_in_rank_order(builder, mine, builder.output(), [&](uint32_t peer) {
    return Builder::From{.peer = peer, .part = mine, .whole = builder.input()};
  });
}

}  // namespace of_reduce_scatter_block_direct
}  // namespace

constinit const Algorithm reduce_scatter_block_direct = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "direct",
    .summary = "everyone publishes its row and combines its block out of all",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_reduce_scatter_block_direct::build,
    .root_relative = false,
    .can_keep_order = true,
    .takes_vectors = true,
    .publishes_rows = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
