// SPDX-License-Identifier: BSD-3-Clause
// Up a tree that the user gives to rank 0, and down it again.
//
// Reference: Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial? (2003), III.C: the
//   application tells each host its parent and its children.
// Steps: twice as deep as the tree is.
// Bytes: 2 (size-1) n in all.
// Cost:  that of the longest way through the tree, whose ranks send or combine for one child after the other.
// Restrictions: for operations that commute.
#include "algorithms/given_tree.h"
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_parents {

void build(schedule::Builder& builder) {
  const Tree tree = given_tree(builder);
  reduce_along(builder, tree);
  broadcast_along(builder, tree);
}

}  // namespace of_allreduce_parents
}  // namespace

constinit const Algorithm allreduce_parents = {
    .collective = schedule::Collective::kAllreduce,
    .name = "parents",
    .summary = "up to rank 0 and down again, along a tree that is given as a list of parents",
    .reference = "Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, III.C",
    .build = of_allreduce_parents::build,
    .root_relative = false,
    .segmented = true,
    .takes_tree = true,
};

}  // namespace hocket::algorithms
