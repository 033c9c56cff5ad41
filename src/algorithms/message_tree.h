// SPDX-License-Identifier: BSD-3-Clause
// Down a tree and up it by sends and receives, segment by segment: a rank passes one segment on while the next is on
// its way to it, be it from another node or from a neighbour.
//
// Thread safety: pure, but for the builder, which belongs to one thread.
#pragma once

#include "algorithms/shapes.h"

namespace hocket::algorithms {

// A tree of nodes, each represented by its leader (the root by itself), and in each node a tree of its ranks below the
// leader, all k-nomial of one degree. Children within the node come first; the order is not that of ranks.
Tree node_tree(const schedule::Nodes& nodes, uint32_t rank, uint32_t root, uint32_t degree);

// What builder.rank() does, whose neighbours `tree` names.
void broadcast_along(schedule::Builder& builder, const Tree& tree);
// Operands are combined after one's own, in the order of tree.children.
void reduce_along(schedule::Builder& builder, const Tree& tree);

}  // namespace hocket::algorithms
