// SPDX-License-Identifier: BSD-3-Clause
// Down a tree of nodes and, in each, a tree of its ranks, in sends and receives: while a leader passes one segment on
// to other nodes and within its own, it receives the next.
//
// Reference: Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999);
//   segments as in Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: ceil(log_k nodes) + ceil(log_k p) phases of up to k-1 sends a rank (p ranks a node); S-1 more with S segments.
// Bytes: nodes-1 messages of n between nodes, up to (k-1) ceil(log_k nodes) of them out of the root's; (p-1) n within
//   each.
// Cost:  (ceil(log_k nodes) + ceil(log_k p) + S-1) (k-1) (alpha + n/S beta), alpha and beta being the slower level's,
//   where a rank's sends go side by side; one after the other, the root takes S (k-1) ceil(log_k nodes) of them.
// Restrictions: none.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_node_tree {

constexpr uint32_t kDegrees[] = {2, 4};

void build(schedule::Builder& builder) {
  broadcast_along(builder, node_tree(builder.nodes(), builder.rank(), builder.root(), degree_of(builder, kDegrees)));
}

}  // namespace of_broadcast_node_tree
}  // namespace

constinit const Algorithm broadcast_node_tree = {
    .collective = schedule::Collective::kBroadcast,
    .name = "node_tree",
    .summary = "k-nomial trees of sends and receives, of nodes and of the ranks in each",
    .reference =
        "after Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs, 1999, and "
        "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (TREEMM)",
    .build = of_broadcast_node_tree::build,
    .root_relative = false,
    .segmented = true,
    .degrees = of_broadcast_node_tree::kDegrees,
};

}  // namespace hocket::algorithms
