// SPDX-License-Identifier: BSD-3-Clause
// TREE: arrivals are gathered up a k-nomial tree, the release runs down it.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.2.
// Steps: 2 ceil(log_k size) phases, up to k-1 signals a rank in each.
// Bytes: none; 2(size-1) signals.
// Cost:  2 ceil(log_k size) (alpha + (k-1) o).
// Restrictions: none.
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_tree {

constexpr uint32_t kDegrees[] = {2, 4, 8, 3};

// One counter serves both ways: the parent releases only ranks that have reported, so its signal is always the last.
void build(schedule::Builder& builder) {
  const Tree tree = knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees));
  const uint32_t children = static_cast<uint32_t>(tree.children.size());
  const uint32_t total = children + (builder.rank() == 0 ? 0 : 1);
  if (total == 0) return;
  builder.own_total(0, total);
  if (children > 0) builder.wait_until(0, children);
  if (builder.rank() != 0) {
    builder.add(tree.parent, 0);
    builder.wait_until(0, total);
  }
  for (const uint32_t child : tree.children_biggest_first()) builder.add(child, 0);
}

}  // namespace of_barrier_tree
}  // namespace

constinit const Algorithm barrier_tree = {
    .collective = schedule::Collective::kBarrier,
    .name = "tree",
    .summary = "gather and release along a k-nomial tree",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.2 (TREE)",
    .build = of_barrier_tree::build,
    .root_relative = false,
    .degrees = of_barrier_tree::kDegrees,
};

}  // namespace hocket::algorithms
