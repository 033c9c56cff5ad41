// SPDX-License-Identifier: BSD-3-Clause
// The root publishes all blocks at once, everyone copies its own: one scheduling round, and the root doesn't wait.
//
// Reference: one-to-all, where each reads another part; Velamati et al., Optimization of Collective Communication in
//   Intra-Cell MPI, section 3.3.
// Steps: one publication, one get a rank.
// Bytes: (size-1) n, read by the ranks that want them; n is one block.
// Cost:  2 alpha + n beta, and size n beta where the root has to copy its row.
// Restrictions: a row of size blocks fits into a slot.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scatter_direct {

using schedule::Builder;

void build(Builder& builder) {
  const Builder& facts = builder;
  const schedule::Slice mine = facts.input_block(facts.rank());
  if (facts.rank() == facts.root()) {
    if (facts.size() > 1) builder.publish(0, builder.input());
    if (!mine.is_empty()) builder.copy(mine, builder.output());
    return;
  }
  if (mine.is_empty()) return;
  builder.get({.peer = facts.root(), .part = mine, .whole = builder.input()}, builder.output());
}

}  // namespace of_scatter_direct
}  // namespace

constinit const Algorithm scatter_direct = {
    .collective = schedule::Collective::kScatter,
    .name = "direct",
    .summary = "the root publishes all blocks, everyone copies its own",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (one-to-all)",
    .build = of_scatter_direct::build,
    .root_relative = false,
    .publishes_rows = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
