// SPDX-License-Identifier: BSD-3-Clause
// Blocks are collected up a tree, each rank sending those of its whole subtree at once.
//
// Reference: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience
//   (2007).
// Steps: ceil(log_k size) phases of up to k-1 receives a rank.
// Bytes: a rank sends those of its subtree; about n size/k ceil(log_k size) in all, n being one block.
// Cost:  ceil(log_k size) alpha + (size-1) n beta.
// Restrictions: blocks of one length.
#include "algorithms/block_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_gather_binomial {

using schedule::Builder;

constexpr uint32_t kDegrees[] = {2, 4, 8};

void build(Builder& builder) {
  BlockTree tree(builder, builder.output(), kDegrees);
  const auto own = [&] { return Builder::part(builder.output(), builder.rank(), builder.size()); };
  if (!tree.is_root() && tree.is_leaf()) return builder.send(tree.parent(), builder.input());
  const uint8_t area = tree.is_root() ? 0 : tree.make_area();
  builder.begin_stage();
  builder.copy(builder.input(), tree.is_root() ? own() : tree.in_area(area, tree.first(), tree.first() + 1));
  tree.for_children([&](uint32_t child, uint32_t first, uint32_t last) {
    if (!tree.is_root()) return builder.receive(child, tree.in_area(area, first, last));
    tree.for_ranges_at_root(first, last, [&](uint32_t begin, uint32_t end) {
      builder.receive(child, tree.at_root(builder.output(), begin, end));
    });
  });
  builder.end_stage();
  if (tree.is_root()) return;
  if (!tree.parent_is_root()) return builder.send(tree.parent(), tree.in_area(area, tree.first(), tree.last()));
  builder.begin_stage();
  tree.for_ranges_at_root(tree.first(), tree.last(), [&](uint32_t begin, uint32_t end) {
    builder.send(tree.parent(), tree.in_area(area, begin, end));
  });
  builder.end_stage();
}

}  // namespace of_gather_binomial
}  // namespace

constinit const Algorithm gather_binomial = {
    .collective = schedule::Collective::kGather,
    .name = "binomial",
    .summary = "up a k-nomial tree, a subtree's blocks at once",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_gather_binomial::build,
    .root_relative = false,
    .degrees = of_gather_binomial::kDegrees,
};

}  // namespace hocket::algorithms
