// SPDX-License-Identifier: BSD-3-Clause
// The k-nomial tree over ranks counted from the root, where a subtree's blocks travel together: what gather and scatter
// share.
//
// Blocks are numbered from the root too, so that a subtree's are neighbours; in the root's buffer they are where their
// ranks say, which may be in two places: at its end and its beginning.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/shapes.h"
#include "schedule/builder.h"

namespace hocket::algorithms {

class BlockTree {
 public:
  // `all`: the buffer that has a block a rank, on every rank as if it had it.
  BlockTree(schedule::Builder& builder, const schedule::Slice& all, std::span<const uint32_t> degrees)
      : builder_(builder),
        all_(all),
        degree_(degree_of(builder, degrees)),
        rank_(relative(builder.rank())),
        tree_(knomial_tree(rank_, builder.size(), degree_)),
        end_(subtree_end(rank_, builder.size(), degree_)) {}

  bool is_root() const { return rank_ == 0; }
  bool is_leaf() const { return tree_.children.empty(); }
  uint32_t blocks() const { return end_ - rank_; }  // of this rank's subtree
  uint32_t parent() const { return real(tree_.parent); }
  bool parent_is_root() const { return tree_.parent == 0; }

  // `visit(child, first, last)` for every child, as a real rank, and the blocks of its subtree.
  template <typename Visit>
  void for_children(Visit visit) const {
    for (size_t i = 0; i < tree_.children.size(); ++i) {
      const uint32_t last = i + 1 < tree_.children.size() ? tree_.children[i + 1] : end_;
      visit(real(tree_.children[i]), tree_.children[i], last);
    }
  }
  // The blocks [first, last) as the root has them: `visit` with one or two ranges, in the order in which they are sent.
  template <typename Visit>
  void for_ranges_at_root(uint32_t first, uint32_t last, Visit visit) const {
    const uint32_t wrap = builder_.size() - builder_.root();  // the block of rank 0
    if (first < wrap && wrap < last) {
      visit(first, wrap);
      visit(wrap, last);
    } else {
      visit(first, last);
    }
  }
  // In the root's buffer; the range must not go beyond the last rank's block.
  schedule::Slice at_root(const schedule::Slice& buffer, uint32_t first, uint32_t last) const {
    return schedule::Builder::parts_of(buffer, real(first), real(first) + (last - first), builder_.size());
  }
  // In a scratch area that holds this rank's subtree.
  schedule::Slice in_area(uint8_t area, uint32_t first, uint32_t last) const {
    return schedule::Builder::in_scratch(area, row(first - rank_, last - rank_), row(0, blocks()));
  }
  uint8_t make_area() { return builder_.scratch_area(row(0, blocks())); }
  uint32_t first() const { return rank_; }
  uint32_t last() const { return end_; }

 private:
  uint32_t relative(uint32_t rank) const { return (rank + builder_.size() - builder_.root()) % builder_.size(); }
  uint32_t real(uint32_t rank) const { return (rank + builder_.root()) % builder_.size(); }
  // How many blocks.
  schedule::Slice row(uint32_t first, uint32_t last) const {
    return schedule::Builder::parts_of(all_, first, last, builder_.size());
  }

  schedule::Builder& builder_;
  schedule::Slice all_;
  uint32_t degree_;
  uint32_t rank_;
  Tree tree_;
  uint32_t end_;
};

}  // namespace hocket::algorithms
