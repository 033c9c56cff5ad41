// SPDX-License-Identifier: BSD-3-Clause
// The root sends everyone its block.
//
// Reference: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience
//   (2007).
// Steps: one at each rank; the root sends size-1 messages at a time.
// Bytes: (size-1) n, all of them out of the root; n is one block.
// Cost:  alpha + (size-1) n beta.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scatter_linear {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t size = builder.size();
  if (builder.input_block(builder.rank()).is_empty() && builder.rank() != builder.root()) return;
  if (builder.rank() != builder.root()) return builder.receive(builder.root(), builder.output());
  builder.begin_stage();
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t peer = (builder.root() + i) % size;
    if (const auto block = builder.input_block(peer); !block.is_empty()) builder.send(peer, block);
  }
  if (const auto own = builder.input_block(builder.root()); !own.is_empty()) builder.copy(own, builder.output());
  builder.end_stage();
}

}  // namespace of_scatter_linear
}  // namespace

constinit const Algorithm scatter_linear = {
    .collective = schedule::Collective::kScatter,
    .name = "linear",
    .summary = "the root sends everyone its block",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_scatter_linear::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
