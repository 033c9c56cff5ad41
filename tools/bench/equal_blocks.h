// SPDX-License-Identifier: BSD-3-Clause
// Counts and displacements for the vector versions, where all blocks are equally long: as long as those of the
// collective that they are a version of, so that the times can be compared.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <vector>

namespace hocket::bench {

template <typename T>
class EqualBlocks {
 public:
  explicit EqualBlocks(int ranks) : counts_(static_cast<size_t>(ranks)), displacements_(static_cast<size_t>(ranks)) {}

  // Before counts() or displacements(): for blocks of that many elements.
  void set(size_t count) {
    if (count == count_) return;
    count_ = count;
    for (size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] = static_cast<T>(count);
      displacements_[i] = static_cast<T>(i * count);
    }
  }
  const T* counts() const { return counts_.data(); }
  const T* displacements() const { return displacements_.data(); }

 private:
  size_t count_ = ~size_t{0};
  std::vector<T> counts_;
  std::vector<T> displacements_;
};

}  // namespace hocket::bench
