// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/shapes.h"

#include <algorithm>

#include <bit>

namespace hocket::algorithms {

uint32_t degree_of(const schedule::Builder& builder, std::span<const uint32_t> degrees) {
  const uint32_t asked = builder.shape().degree;
  return asked != 0 ? asked : degrees.front();
}

Tree knomial_tree(uint32_t rank, uint32_t size, uint32_t degree) {
  Tree tree;
  if (degree == 1) {
    tree.parent = rank == 0 ? 0 : rank - 1;
    if (rank + 1 < size) tree.children.push_back(rank + 1);
    return tree;
  }
  // In digits of base `degree`: the parent has the lowest digit that is not 0 cleared, the children have one of the
  // zeros below it set. 64 bits, because `weight` passes the size and the degree may be kFlat.
  for (uint64_t weight = 1; weight < size; weight *= degree) {
    const uint64_t digit = rank / weight % degree;
    if (digit != 0) {
      tree.parent = static_cast<uint32_t>(rank - digit * weight);
      break;
    }
    for (uint64_t child = rank + weight; child < size && child < rank + degree * weight; child += weight) {
      tree.children.push_back(static_cast<uint32_t>(child));
    }
  }
  return tree;
}

uint32_t subtree_end(uint32_t rank, uint32_t size, uint32_t degree) {
  uint32_t node = 0;
  uint32_t end = size;
  while (node != rank) {
    const std::vector<uint32_t> children = knomial_tree(node, size, degree).children;
    const auto next = std::upper_bound(children.begin(), children.end(), rank);
    if (next != children.end()) end = *next;
    node = *(next - 1);
  }
  return end;
}

Hypercube hypercube(uint32_t rank, uint32_t size) {
  Hypercube cube;
  cube.dimensions = static_cast<uint32_t>(std::bit_width(size) - 1);
  cube.extras = size - cube.vertices();
  if (rank < 2 * cube.extras) {
    cube.is_extra = rank % 2 == 0;
    cube.has_extra = !cube.is_extra;
    cube.vertex = rank / 2;
  } else {
    cube.vertex = rank - cube.extras;
  }
  return cube;
}

}  // namespace hocket::algorithms
