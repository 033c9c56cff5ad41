// SPDX-License-Identifier: BSD-3-Clause
// Reference: Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, III.C: the host gives parent
//   and children.
#include "algorithms/given_tree.h"

#include "algorithms/message_tree.h"

namespace hocket::algorithms {

using schedule::Collective;

std::string flaw_of_parents(std::span<const uint32_t> parents) {
  const auto size = static_cast<uint32_t>(parents.size());
  if (size == 0 || parents[0] != 0) return "the first, rank 0, is the root and its own parent";
  for (uint32_t rank = 1; rank < size; ++rank) {
    if (parents[rank] >= size)
      return "rank " + std::to_string(rank) + " has parent " + std::to_string(parents[rank]) + ", but there are " +
             std::to_string(size) + " ranks";
    uint32_t above = rank;
    for (uint32_t steps = 0; above != 0 && steps < size; ++steps) above = parents[above];
    if (above != 0) return "rank " + std::to_string(rank) + " has no way up to rank 0";
  }
  return "";
}

schedule::Plan plan_along(std::span<const uint32_t> parents, Collective collective, const schedule::Shape& shape) {
  Tree tree;
  tree.parent = parents[shape.rank];
  for (uint32_t rank = 1; rank < shape.size; ++rank)
    if (parents[rank] == shape.rank) tree.children.push_back(rank);
  schedule::Builder builder(collective, shape);
  if (collective != Collective::kBroadcast) reduce_along(builder, tree);
  if (collective != Collective::kReduce) broadcast_along(builder, tree);
  return builder.finish();
}

}  // namespace hocket::algorithms
