// SPDX-License-Identifier: BSD-3-Clause
// TREEMM: the usual tree of sends and receives, each rank combining what its children send.
//
// A rank sends one segment on while it receives the next from its first child. Rank order, as in reduce_tree.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: ceil(log_k size) phases of up to k-1 receptions a rank.
// Bytes: (size-1) n in all; the root receives and combines up to (k-1) ceil(log_k size) n.
// Cost:  ceil(log_k size) (k-1) (alpha + n beta + n gamma) unsegmented.
// Restrictions: for operations that don't commute, a root other than 0 costs a message.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_tree_mm {

constexpr uint32_t kDegrees[] = {2, 3, 4, 8};

void build(schedule::Builder& builder) {
  reduce_along(builder, knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees)));
}

}  // namespace of_reduce_tree_mm
}  // namespace

constinit const Algorithm reduce_tree_mm = {
    .collective = schedule::Collective::kReduce,
    .name = "tree_mm",
    .summary = "k-nomial tree of sends and receives",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (TREEMM)",
    .build = of_reduce_tree_mm::build,
    .can_keep_order = true,
    .segmented = true,
    .degrees = of_reduce_tree_mm::kDegrees,
};

}  // namespace hocket::algorithms
