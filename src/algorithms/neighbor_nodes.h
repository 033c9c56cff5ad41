// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms by node share: the carriers, who stand for their node towards another one, and rows of scratch
// memory that are filled and emptied in order.
//
// Thread safety: none; like the builder they write to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "schedule/builder.h"

namespace hocket::algorithms {

// The nodes from where the builder's rank is; there are several.
class Carriers {
 public:
  explicit Carriers(const schedule::Builder& builder)
      : nodes_(*builder.shape().nodes), rank_(builder.rank()), node_(nodes_.node_of(rank_)) {}

  const std::vector<uint32_t>& own_ranks() const { return nodes_.ranks_of(node_); }
  uint32_t node_of(uint32_t rank) const { return nodes_.node_of(rank); }
  // A rank of another node; kNoRank is nowhere.
  bool is_elsewhere(uint32_t rank) const { return rank != schedule::kNoRank && !nodes_.together(rank_, rank); }
  // On this node for another, on the other for this one, and whether this rank is it.
  uint32_t carrier_here(uint32_t other) const { return carrier(node_, other); }
  uint32_t carrier_there(uint32_t other) const { return carrier(other, node_); }
  bool carries(uint32_t other) const { return carrier_here(other) == rank_; }

 private:
  uint32_t carrier(uint32_t node, uint32_t other) const {
    const std::vector<uint32_t>& ranks = nodes_.ranks_of(node);
    return ranks[other % ranks.size()];
  }

  const schedule::Nodes& nodes_;
  uint32_t rank_;
  uint32_t node_;
};

// Blocks of equal length side by side in an area of their own.
class ScratchRow {
 public:
  ScratchRow() = default;
  ScratchRow(schedule::Builder& builder, uint32_t blocks) : blocks_(blocks) {
    if (blocks > 0) row_ = builder.scratch_row(std::vector<uint64_t>(blocks));
  }
  // The next `count` of them.
  schedule::Slice take(uint32_t count) {
    next_ += count;
    return schedule::Builder::parts_of(row_, next_ - count, next_, blocks_);
  }
  void rewind() { next_ = 0; }
  // The block that is the `index`-th of all.
  schedule::Slice at(uint32_t index) const { return schedule::Builder::part(row_, index, blocks_); }
  uint32_t blocks() const { return blocks_; }

 private:
  schedule::Slice row_;
  uint32_t blocks_ = 0;
  uint32_t next_ = 0;
};

// As Algorithm::why_not_among.
inline std::string_view why_not_by_node(const schedule::Neighbours& /*neighbours*/, const schedule::Nodes* nodes) {
  if (nodes == nullptr || nodes->count() == 1) return "all ranks are on one node";
  return nodes->most() == 1 ? "each rank has a node of its own" : "";
}

}  // namespace hocket::algorithms
