// SPDX-License-Identifier: BSD-3-Clause
// TREE: segments travel down a k-nomial tree through slots; each rank reads its parent's.
//
// A parent only publishes; its children copy, at the same time. So a high degree costs the parent nothing but the
// contention for its memory.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: (S - 1) + ceil(log_k size) in a chain, each a get and a publication.
// Bytes: a rank reads n; (size-1) n in all. Published memory that peers can't map is copied once more.
// Cost:  (S - 1 + ceil(log_k size)) (2 alpha + n/S beta).
// Restrictions: a segment fits into a slot.
#include "algorithms/registered.h"
#include "algorithms/slot_tree.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_tree {

constexpr uint32_t kDegrees[] = {3, 2, 4, 8};

void build(schedule::Builder& builder) {
  broadcast_through_slots(builder, knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees)));
}

}  // namespace of_broadcast_tree
}  // namespace

constinit const Algorithm broadcast_tree = {
    .collective = schedule::Collective::kBroadcast,
    .name = "tree",
    .summary = "down a k-nomial tree, segment by segment",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (TREE)",
    .build = of_broadcast_tree::build,
    .segmented = true,
    .degrees = of_broadcast_tree::kDegrees,
};

}  // namespace hocket::algorithms
