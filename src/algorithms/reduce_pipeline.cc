// SPDX-License-Identifier: BSD-3-Clause
// TREE of degree 1: segments travel up the chain of ranks to rank 0, each rank combining in its own.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: (S - 1) + (size - 1) in a chain, each a combination and a publication.
// Bytes: a rank reads n and combines n.
// Cost:  (S + size - 2) (2 alpha + n/S beta + n/S gamma). For very long messages.
// Restrictions: a segment fits into a slot. For operations that don't commute, a root other than 0 costs a message.
//   The order is x0 (op) (x1 (op) (x2 ...)): rank order, but from the right.
#include "algorithms/registered.h"
#include "algorithms/slot_tree.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_pipeline {

void build(schedule::Builder& builder) {
  reduce_through_slots(builder, knomial_tree(builder.rank(), builder.size(), 1));
}

}  // namespace of_reduce_pipeline
}  // namespace

constinit const Algorithm reduce_pipeline = {
    .collective = schedule::Collective::kReduce,
    .name = "pipeline",
    .summary = "up the chain of ranks, segment by segment",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (TREE of degree 1)",
    .build = of_reduce_pipeline::build,
    .can_keep_order = true,
    .segmented = true,
};

}  // namespace hocket::algorithms
