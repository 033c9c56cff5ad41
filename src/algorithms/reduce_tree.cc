// SPDX-License-Identifier: BSD-3-Clause
// TREE: segments travel up a k-nomial tree through slots; each rank combines its children's with its own.
//
// Subtrees are contiguous and children are combined in order, so the result is that of rank order on every run.
// Degree `flat`: the root combines what everybody publishes, one scheduling round.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: (S - 1) + ceil(log_k size) in a chain, each of up to (k-1) ceil(log_k size) combinations.
// Bytes: (size-1) n read and combined in all; the root does (k-1) ceil(log_k size) n of it.
// Cost:  ceil(log_k size) (k-1) (alpha + n beta + n gamma) unsegmented.
// Restrictions: a segment fits into a slot. For operations that don't commute, a root other than 0 costs a message.
#include "algorithms/registered.h"
#include "algorithms/slot_tree.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_tree {

constexpr uint32_t kDegrees[] = {3, 2, 4, 8, kFlat};

void build(schedule::Builder& builder) {
  reduce_through_slots(builder, knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees)));
}

}  // namespace of_reduce_tree
}  // namespace

constinit const Algorithm reduce_tree = {
    .collective = schedule::Collective::kReduce,
    .name = "tree",
    .summary = "up a k-nomial tree, segment by segment",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (TREE)",
    .build = of_reduce_tree::build,
    .can_keep_order = true,
    .segmented = true,
    .degrees = of_reduce_tree::kDegrees,
};

}  // namespace hocket::algorithms
