// SPDX-License-Identifier: BSD-3-Clause
// Up a tree that the user gives: each rank combines what its children send, and sends that to its parent.
//
// Reference: Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial? (2003), III.C: the
//   application tells each host its parent and its children.
// Steps: as deep as the tree is, and as many receptions a rank as it has children.
// Bytes: (size-1) n in all.
// Cost:  that of the longest way through the tree, whose ranks send or combine for one child after the other.
// Restrictions: for operations that commute.
#include "algorithms/given_tree.h"
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_parents {

void build(schedule::Builder& builder) { reduce_along(builder, given_tree(builder)); }

}  // namespace of_reduce_parents
}  // namespace

constinit const Algorithm reduce_parents = {
    .collective = schedule::Collective::kReduce,
    .name = "parents",
    .summary = "up a tree that is given, as a list of parents",
    .reference = "Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, III.C",
    .build = of_reduce_parents::build,
    .segmented = true,
    .takes_tree = true,
};

}  // namespace hocket::algorithms
