// SPDX-License-Identifier: BSD-3-Clause
// Which rank communicates with which: trees and hypercubes over ranks 0 .. size-1, apart from what is moved along them.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

// The degree asked for, or the algorithm's default (the first of `degrees`).
uint32_t degree_of(const schedule::Builder& builder, std::span<const uint32_t> degrees);

// A rank's place in a tree.
struct Tree {
  uint32_t parent = 0;  // of the root: the root
  std::vector<uint32_t> children;
  // Children by phase, the biggest subtree first: the order in which a broadcast should serve them.
  std::vector<uint32_t> children_biggest_first() const { return {children.rbegin(), children.rend()}; }
};
// The k-nomial tree of Velamati et al., its root being rank 0: in each phase, everyone reached so far reaches k-1
// others, so that ceil(log_k size) phases reach all. Degree 1 is the chain 0, 1, 2, ...; from degree `size` on, the
// tree is flat.
//
// Invariant: the subtree of every rank is the contiguous range that begins with it, and the subtrees of `children`
// follow each other in ascending order. So combining one's own operand, then the children's in order, is rank order.
Tree knomial_tree(uint32_t rank, uint32_t size, uint32_t degree);
// The subtree of `rank` is [rank, subtree_end).
uint32_t subtree_end(uint32_t rank, uint32_t size, uint32_t degree);

// The biggest hypercube with no more vertices than there are ranks. Ranks beyond are folded in: the first 2*extras
// ranks form neighbouring pairs, of which the even one is an extra that takes part through the odd one. So vertices
// follow rank order, and a pair's operands are neighbours.
struct Hypercube {
  uint32_t dimensions = 0;
  uint32_t extras = 0;
  bool is_extra = false;
  bool has_extra = false;  // rank-1 takes part through this rank
  uint32_t vertex = 0;     // unless is_extra

  uint32_t vertices() const { return 1u << dimensions; }
  uint32_t rank_of(uint32_t some_vertex) const {
    return some_vertex < extras ? 2 * some_vertex + 1 : some_vertex + extras;
  }
  // The ranks that vertices from `some_vertex` on stand for begin with it, their extras included; also for the vertex
  // after the last.
  uint32_t first_rank_of(uint32_t some_vertex) const { return some_vertex + std::min(some_vertex, extras); }
};
Hypercube hypercube(uint32_t rank, uint32_t size);

}  // namespace hocket::algorithms
