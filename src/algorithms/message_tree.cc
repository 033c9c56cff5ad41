// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/message_tree.h"

#include "algorithms/composition.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {

using schedule::Builder;
using schedule::Nodes;
using schedule::Slice;

namespace {

// The tree of `size` members as seen by number `self`, where number 0 is called `first` by others, 1 `first`+1, ...
Tree turned_tree(uint32_t self, uint32_t size, uint32_t first, uint32_t degree) {
  Tree tree = knomial_tree((self + size - first) % size, size, degree);
  tree.parent = (tree.parent + first) % size;
  for (uint32_t& child : tree.children) child = (child + first) % size;
  return tree;
}

void reduce_at_root(Builder& builder, const Tree& tree) {
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    const Slice own = Builder::part(builder.input(), s, builder.segments());
    const Slice sum = Builder::part(builder.output(), s, builder.segments());
    if (tree.children.empty()) builder.copy(own, sum);
    Slice so_far = own;
    for (const uint32_t child : tree.children) {
      builder.receive_combine(child, so_far, sum, /*incoming_left=*/false);
      so_far = sum;
    }
  }
}

void reduce_midway(Builder& builder, const Tree& tree) {
  const uint32_t segments = builder.segments();
  const auto own = [&](uint32_t s) { return Builder::part(builder.input(), s, segments); };
  const ScratchRing scratch(builder, own(0), /*slots=*/2);  // one being sent, one being made
  const auto sum = [&](uint32_t s) { return scratch.at(s, own(s)); };
  for (uint32_t s = 0; s < segments; ++s) {
    builder.begin_stage();
    if (s > 0) builder.send(tree.parent, sum(s - 1));
    builder.receive_combine(tree.children[0], own(s), sum(s), /*incoming_left=*/false);
    builder.end_stage();
    for (size_t i = 1; i < tree.children.size(); ++i) {
      builder.receive_combine(tree.children[i], sum(s), sum(s), /*incoming_left=*/false);
    }
  }
  builder.send(tree.parent, sum(segments - 1));
}

}  // namespace

Tree node_tree(const Nodes& nodes, uint32_t rank, uint32_t root, uint32_t degree) {
  const uint32_t node = nodes.node_of(rank);
  const uint32_t leader = leader_of(nodes, node, root);
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  Tree tree = turned_tree(nodes.place_of(rank), nodes.ranks_on(node), nodes.place_of(leader), degree);
  tree.parent = ranks[tree.parent];
  for (uint32_t& child : tree.children) child = ranks[child];
  if (rank != leader) return tree;
  // What comes from within a node comes sooner, and what goes to others has the longer way: biggest last, as for ranks.
  const Tree across = turned_tree(node, nodes.count(), nodes.node_of(root), degree);
  tree.parent = leader_of(nodes, across.parent, root);
  for (const uint32_t child : across.children) tree.children.push_back(leader_of(nodes, child, root));
  return tree;
}

void broadcast_along(Builder& builder, const Tree& tree) {
  const uint32_t segments = builder.segments();
  const bool receives = tree.parent != builder.rank();
  for (uint32_t s = 0; s <= segments; ++s) {
    builder.begin_stage();
    if (s > 0) {
      for (const uint32_t child : tree.children_biggest_first()) {
        builder.send(child, Builder::part(builder.output(), s - 1, segments));
      }
    }
    if (receives && s < segments) builder.receive(tree.parent, Builder::part(builder.output(), s, segments));
    builder.end_stage();
  }
}

void reduce_along(Builder& builder, const Tree& tree) {
  if (tree.parent == builder.rank()) return reduce_at_root(builder, tree);
  if (!tree.children.empty()) return reduce_midway(builder, tree);
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    builder.send(tree.parent, Builder::part(builder.input(), s, builder.segments()));
  }
}

}  // namespace hocket::algorithms
