// SPDX-License-Identifier: BSD-3-Clause
// Up a tree of ranks in each node and a tree of nodes, in sends and receives: while a leader sends one segment to
// another node, it combines the next with that of its first child.
//
// Reference: Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs (1999);
//   segments as in Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: ceil(log_k nodes) + ceil(log_k p) phases of up to k-1 receptions a rank (p ranks a node).
// Bytes: nodes-1 messages of n between nodes; (p-1) n within each.
// Cost:  (ceil(log_k nodes) + ceil(log_k p)) (k-1) (alpha + n beta + n gamma) unsegmented, alpha and beta being the
//   slower level's.
// Restrictions: operations that commute.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_node_tree {

constexpr uint32_t kDegrees[] = {2, 4};

void build(schedule::Builder& builder) {
  reduce_along(builder, node_tree(builder.nodes(), builder.rank(), builder.root(), degree_of(builder, kDegrees)));
}

}  // namespace of_reduce_node_tree
}  // namespace

constinit const Algorithm reduce_node_tree = {
    .collective = schedule::Collective::kReduce,
    .name = "node_tree",
    .summary = "k-nomial trees of sends and receives, of the ranks in each node and of nodes",
    .reference =
        "after Sistare, vandeVaart, Loh, Optimization of MPI Collectives on Clusters of Large-Scale SMPs, 1999, and "
        "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (TREEMM)",
    .build = of_reduce_node_tree::build,
    .root_relative = false,
    .segmented = true,
    .degrees = of_reduce_node_tree::kDegrees,
};

}  // namespace hocket::algorithms
