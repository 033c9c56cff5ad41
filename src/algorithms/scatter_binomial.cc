// SPDX-License-Identifier: BSD-3-Clause
// Blocks are handed down a tree, each rank getting those of its whole subtree at once.
//
// Reference: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience
//   (2007).
// Steps: ceil(log_k size) phases of up to k-1 sends a rank.
// Bytes: a rank receives those of its subtree; about n size/k ceil(log_k size) in all, n being one block.
// Cost:  ceil(log_k size) alpha + (size-1) n beta.
// Restrictions: blocks of one length.
#include "algorithms/block_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scatter_binomial {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {2, 4, 8};

void receive_subtree(Builder& builder, const BlockTree& tree, uint8_t area) {
  if (!tree.parent_is_root()) return builder.receive(tree.parent(), tree.in_area(area, tree.first(), tree.last()));
  builder.begin_stage();
  tree.for_ranges_at_root(tree.first(), tree.last(), [&](uint32_t begin, uint32_t end) {
    builder.receive(tree.parent(), tree.in_area(area, begin, end));
  });
  builder.end_stage();
}

void build(Builder& builder) {
  BlockTree tree(builder, builder.input(), kDegrees);
  if (!tree.is_root() && tree.is_leaf()) return builder.receive(tree.parent(), builder.output());
  const uint8_t area = tree.is_root() ? 0 : tree.make_area();
  if (!tree.is_root()) receive_subtree(builder, tree, area);
  builder.begin_stage();
  tree.for_children([&](uint32_t child, uint32_t first, uint32_t last) {
    if (!tree.is_root()) return builder.send(child, tree.in_area(area, first, last));
    tree.for_ranges_at_root(first, last, [&](uint32_t begin, uint32_t end) {
      builder.send(child, tree.at_root(builder.input(), begin, end));
    });
  });
  const Slice own = Builder::part(builder.input(), builder.rank(), builder.size());
  builder.copy(tree.is_root() ? own : tree.in_area(area, tree.first(), tree.first() + 1), builder.output());
  builder.end_stage();
}

}  // namespace of_scatter_binomial
}  // namespace

constinit const Algorithm scatter_binomial = {
    .collective = schedule::Collective::kScatter,
    .name = "binomial",
    .summary = "down a k-nomial tree, a subtree's blocks at once",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_scatter_binomial::build,
    .root_relative = false,
    .degrees = of_scatter_binomial::kDegrees,
};

}  // namespace hocket::algorithms
