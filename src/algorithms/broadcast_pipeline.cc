// SPDX-License-Identifier: BSD-3-Clause
// TREE of degree 1: segments travel down the chain of ranks.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: (S - 1) + (size - 1) in a chain, each a get and a publication.
// Bytes: a rank reads n, and is read n by one other.
// Cost:  (S + size - 2) (2 alpha + n/S beta). For very long messages.
// Restrictions: a segment fits into a slot.
#include "algorithms/registered.h"
#include "algorithms/slot_tree.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_pipeline {

void build(schedule::Builder& builder) {
  broadcast_through_slots(builder, knomial_tree(builder.rank(), builder.size(), 1));
}

}  // namespace of_broadcast_pipeline
}  // namespace

constinit const Algorithm broadcast_pipeline = {
    .collective = schedule::Collective::kBroadcast,
    .name = "pipeline",
    .summary = "down the chain of ranks, segment by segment",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (TREE of degree 1)",
    .build = of_broadcast_pipeline::build,
    .segmented = true,
};

}  // namespace hocket::algorithms
