// SPDX-License-Identifier: BSD-3-Clause
// Up a tree of messages to rank 0, as in reduce_tree_mm, and down by multicast, as in broadcast_multicast: half as many
// messages in a row as up and down a tree.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, sections 3.3 and 3.4
//   (TREEMM); Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
//   Clusters with Multicast (2007), section 2.
// Steps: ceil(log_k size) phases of up to k-1 messages a rank, and 1.
// Bytes: (size-1) n up, n by multicast, (size-1) n by the chain.
// Cost:  that of reduce_tree_mm plus that of broadcast_multicast.
// Restrictions: one rank a node, and a network that multicasts.
#include "algorithms/by_multicast.h"
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_multicast {

constexpr uint32_t kDegrees[] = {8, 2, 4};

void build(schedule::Builder& builder) {
  reduce_along(builder, knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees)));
  multicast_down(builder, builder.output());
}

}  // namespace of_allreduce_multicast
}  // namespace

constinit const Algorithm allreduce_multicast = {
    .collective = schedule::Collective::kAllreduce,
    .name = "multicast",
    .summary = "up a k-nomial tree of sends and receives, down by multicast and a chain",
    .reference =
        "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (TREEMM); Hoefler, Siebert, "
        "Rehm, A practically constant-time MPI Broadcast Algorithm",
    .build = of_allreduce_multicast::build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
    .degrees = of_allreduce_multicast::kDegrees,
};

}  // namespace hocket::algorithms
