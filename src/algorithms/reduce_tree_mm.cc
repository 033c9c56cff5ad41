// SPDX-License-Identifier: BSD-3-Clause
// TREEMM: the usual tree of sends and receives, each rank combining what its children send.
//
// A rank sends one segment on while it receives the next from its first child. Rank order, as in reduce_tree.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: ceil(log_k size) phases of up to k-1 receptions a rank.
// Bytes: (size-1) n in all; the root receives and combines up to (k-1) ceil(log_k size) n.
// Cost:  ceil(log_k size) (k-1) (alpha + n beta + n gamma) unsegmented.
// Restrictions: for operations that don't commute, a root other than 0 costs a message.
#include <optional>

#include "algorithms/registered.h"
#include "algorithms/shapes.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {2, 3, 4, 8};

void build_root(Builder& builder, const Tree& tree) {
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    const Slice own = Builder::part(builder.input(), s, builder.segments());
    const Slice sum = Builder::part(builder.output(), s, builder.segments());
    if (tree.children.empty()) builder.copy(own, sum);
    Slice so_far = own;
    for (const uint32_t child : tree.children) {
      builder.receive_combine(child, so_far, sum, /*incoming_left=*/false);
      so_far = sum;
    }
  }
}

void build_inner(Builder& builder, const Tree& tree) {
  const uint32_t segments = builder.segments();
  const auto own = [&](uint32_t s) { return Builder::part(builder.input(), s, segments); };
  const ScratchRing scratch(builder, own(0), /*slots=*/2);  // one being sent, one being made
  const auto sum = [&](uint32_t s) { return scratch.at(s, own(s)); };
  for (uint32_t s = 0; s < segments; ++s) {
    builder.begin_stage();
    if (s > 0) builder.send(tree.parent, sum(s - 1));
    builder.receive_combine(tree.children[0], own(s), sum(s), /*incoming_left=*/false);
    builder.end_stage();
    for (size_t i = 1; i < tree.children.size(); ++i) {
      builder.receive_combine(tree.children[i], sum(s), sum(s), /*incoming_left=*/false);
    }
  }
  builder.send(tree.parent, sum(segments - 1));
}

void build(Builder& builder) {
  const Tree tree = knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees));
  if (builder.rank() == 0) return build_root(builder, tree);
  if (!tree.children.empty()) return build_inner(builder, tree);
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    builder.send(tree.parent, Builder::part(builder.input(), s, builder.segments()));
  }
}

}  // namespace

constinit const Algorithm reduce_tree_mm = {
    .collective = schedule::Collective::kReduce,
    .name = "tree_mm",
    .summary = "k-nomial tree of sends and receives",
    .reference = "Velamati et al., Intra-Cell MPI, 3.4 (TREEMM)",
    .build = build,
    .can_keep_order = true,
    .segmented = true,
    .degrees = kDegrees,
};

}  // namespace hocket::algorithms
