// SPDX-License-Identifier: BSD-3-Clause
// Everyone sends its block to the root.
//
// Reference: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience
//   (2007).
// Steps: one at each rank; the root receives size-1 messages at a time.
// Bytes: (size-1) n, all of them in at the root; n is one block.
// Cost:  alpha + (size-1) n beta.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_gather_linear {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t size = builder.size();
  if (builder.output_block(builder.rank()).is_empty() && builder.rank() != builder.root()) return;
  if (builder.rank() != builder.root()) return builder.send(builder.root(), builder.input());
  builder.begin_stage();
  if (const auto own = builder.output_block(builder.root()); !own.is_empty()) builder.copy(builder.input(), own);
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t peer = (builder.root() + i) % size;
    if (const auto block = builder.output_block(peer); !block.is_empty()) builder.receive(peer, block);
  }
  builder.end_stage();
}

}  // namespace of_gather_linear
}  // namespace

constinit const Algorithm gather_linear = {
    .collective = schedule::Collective::kGather,
    .name = "linear",
    .summary = "everyone sends its block to the root",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_gather_linear::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
