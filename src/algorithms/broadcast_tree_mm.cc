// SPDX-License-Identifier: BSD-3-Clause
// TREEMM: the usual tree of sends and receives, memory to memory.
//
// A rank passes one segment on to its children while it receives the next.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: ceil(log_k size) phases of up to k-1 sends a rank; S-1 more of them with S segments.
// Bytes: n in and up to (k-1) ceil(log_k size) n out at a rank; (size-1) n in all.
// Cost:  (ceil(log_k size) + S-1) (k-1) (alpha + n/S beta), where a rank's sends go side by side.
// Restrictions: none.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_tree_mm {

constexpr uint32_t kDegrees[] = {3, 2, 4, 8};

void build(schedule::Builder& builder) {
  broadcast_along(builder, knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees)));
}

}  // namespace of_broadcast_tree_mm
}  // namespace

constinit const Algorithm broadcast_tree_mm = {
    .collective = schedule::Collective::kBroadcast,
    .name = "tree_mm",
    .summary = "k-nomial tree of sends and receives",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (TREEMM)",
    .build = of_broadcast_tree_mm::build,
    .segmented = true,
    .degrees = of_broadcast_tree_mm::kDegrees,
};

}  // namespace hocket::algorithms
