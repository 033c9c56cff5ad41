// SPDX-License-Identifier: BSD-3-Clause
// reduce_tree_mm to rank 0, then broadcast_tree_mm from it, along one tree of sends and receives.
//
// The least number of messages that there can be: one up and one down for each rank but the first. Rank order, as in
// reduce_tree.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, sections 3.3 and 3.4
// (TREEMM);
//   Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial? (2003), whose
//   reduction-to-all this would be.
// Steps: 2 ceil(log_k size) phases of up to k-1 messages a rank.
// Bytes: 2 (size-1) n in all; rank 0 receives, combines and sends up to (k-1) ceil(log_k size) n.
// Cost:  that of reduce_tree_mm plus that of broadcast_tree_mm.
// Restrictions: none.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_tree_mm {

constexpr uint32_t kDegrees[] = {2, 3, 4, 8};

void build(schedule::Builder& builder) {
  const Tree tree = knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees));
  reduce_along(builder, tree);
  broadcast_along(builder, tree);
}

}  // namespace of_allreduce_tree_mm
}  // namespace

constinit const Algorithm allreduce_tree_mm = {
    .collective = schedule::Collective::kAllreduce,
    .name = "tree_mm",
    .summary = "k-nomial tree of sends and receives, up to rank 0 and down again",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 and 3.4 (TREEMM)",
    .build = of_allreduce_tree_mm::build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
    .degrees = of_allreduce_tree_mm::kDegrees,
};

}  // namespace hocket::algorithms
