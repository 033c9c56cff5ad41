// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share memory: the nodes of a communicator. Steps on slots and counters stay within a node, messages go
// anywhere.
//
// Nodes are numbered from 0 in the order of their lowest ranks, so that all ranks number them alike; a rank's place is
// its number among those of its node. Nothing is assumed of the order of ranks: nodes may hold neighbours (block
// order), every n-th rank (cyclic) or any others, and as many as they like.
//
// Thread safety: immutable once made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hocket::schedule {

class Nodes {
 public:
  // labels[rank] is the same for ranks that share memory, and for no others.
  explicit Nodes(std::span<const uint64_t> labels);
  // All ranks on one node.
  explicit Nodes(uint32_t ranks);
  // ranks_on[node] neighbours on each node.
  static Nodes in_blocks(const std::vector<uint32_t>& ranks_on);

  uint32_t ranks() const { return static_cast<uint32_t>(node_.size()); }
  uint32_t count() const { return static_cast<uint32_t>(ranks_.size()); }
  uint32_t node_of(uint32_t rank) const { return node_[rank]; }
  uint32_t place_of(uint32_t rank) const { return place_[rank]; }
  const std::vector<uint32_t>& ranks_of(uint32_t node) const { return ranks_[node]; }
  // Of each node, in the order of nodes.
  std::span<const uint32_t> lowest_ranks() const { return lowest_; }
  uint32_t ranks_on(uint32_t node) const { return static_cast<uint32_t>(ranks_[node].size()); }
  bool together(uint32_t one, uint32_t other) const { return node_[one] == node_[other]; }

  // Ranks a node.
  uint32_t fewest() const { return fewest_; }
  uint32_t most() const { return most_; }
  bool is_even() const { return fewest_ == most_; }
  // Every node's ranks are neighbours.
  bool is_in_blocks() const { return in_blocks_; }

 private:
  void measure();

  std::vector<uint32_t> node_;   // by rank
  std::vector<uint32_t> place_;  // by rank
  std::vector<std::vector<uint32_t>> ranks_;
  std::vector<uint32_t> lowest_;  // by node
  uint32_t fewest_ = 0;
  uint32_t most_ = 0;
  bool in_blocks_ = true;
};

}  // namespace hocket::schedule
