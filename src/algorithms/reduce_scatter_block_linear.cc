// SPDX-License-Identifier: BSD-3-Clause
// One rank after the other sends everyone its operand of their block; so operands meet in rank order everywhere.
//
// Reference: the linear algorithm; Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory,
//   practice, and experience (2007).
// Steps: size rounds; in its own, a rank sends size-1 messages, in each other it receives one.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  size alpha + 2 (size-1) n beta + (size-1) n gamma.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_linear {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const schedule::Slice mine = builder.input_block(rank);
  for (uint32_t source = 0; source < size; ++source) {
    if (source == rank) {
      builder.begin_stage();
      for (uint32_t i = 1; i < size; ++i) {
        const uint32_t to = (rank + i) % size;
        if (const auto block = builder.input_block(to); !block.is_empty()) builder.send(to, block);
      }
      if (mine.is_empty()) {
        // Nothing is this rank's.
      } else if (rank == 0) {
        builder.copy(mine, builder.output());
      } else {
        builder.combine(mine, builder.output(), /*source_left=*/false);
      }
      builder.end_stage();
    } else if (mine.is_empty()) {
      continue;
    } else if (source == 0) {
      builder.receive(source, builder.output());
    } else {
      builder.receive_combine(source, builder.output(), builder.output(), /*incoming_left=*/false);
    }
  }
}

}  // namespace of_reduce_scatter_block_linear
}  // namespace

constinit const Algorithm reduce_scatter_block_linear = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "linear",
    .summary = "one rank after the other sends everyone its operand of their block",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_reduce_scatter_block_linear::build,
    .root_relative = false,
    .can_keep_order = true,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
