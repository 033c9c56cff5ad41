// SPDX-License-Identifier: BSD-3-Clause
// Down a tree that the user gives: each rank sends to its children what its parent has sent to it.
//
// Reference: Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial? (2003), III.C: the
//   application tells each host its parent and its children.
// Steps: as deep as the tree is; S-1 more with S segments.
// Bytes: (size-1) n in all.
// Cost:  that of the longest way through the tree, whose ranks send or combine for one child after the other.
// Restrictions: none.
#include "algorithms/given_tree.h"
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_parents {

void build(schedule::Builder& builder) { broadcast_along(builder, given_tree(builder)); }

}  // namespace of_broadcast_parents
}  // namespace

constinit const Algorithm broadcast_parents = {
    .collective = schedule::Collective::kBroadcast,
    .name = "parents",
    .summary = "down a tree that is given, as a list of parents",
    .reference = "Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, III.C",
    .build = of_broadcast_parents::build,
    .segmented = true,
    .takes_tree = true,
};

}  // namespace hocket::algorithms
