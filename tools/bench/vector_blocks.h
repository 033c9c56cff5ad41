// SPDX-License-Identifier: BSD-3-Clause
// Counts and displacements for the vector versions. Blocks are as long as those of the collective that they are a
// version of, so that the times can be compared; those of an alltoallv differ if the options say so.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/bench.h"

namespace hocket::bench {

template <typename T>
class VectorBlocks {
 public:
  VectorBlocks(Lengths lengths, int rank, int ranks) : lengths_(lengths), rank_(rank), counts_(ranks) {
    sent_.resize(counts_.size());
    received_.resize(counts_.size());
    displacements_.resize(counts_.size());
  }

  // Before what follows: for blocks of that many elements, at most.
  void set(size_t count) {
    if (count == count_) return;
    count_ = count;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const int other = static_cast<int>(i);
      counts_[i] = static_cast<T>(count);
      sent_[i] = static_cast<T>(length_between(lengths_, count, rank_, other));
      received_[i] = static_cast<T>(length_between(lengths_, count, other, rank_));
      displacements_[i] = static_cast<T>(i * count);
    }
  }
  const T* counts() const { return counts_.data(); }
  // Of an alltoallv.
  const T* sent() const { return sent_.data(); }
  const T* received() const { return received_.data(); }
  const T* displacements() const { return displacements_.data(); }

 private:
  Lengths lengths_;
  int rank_;
  size_t count_ = ~size_t{0};
  std::vector<T> counts_;
  std::vector<T> sent_;
  std::vector<T> received_;
  std::vector<T> displacements_;
};

}  // namespace hocket::bench
