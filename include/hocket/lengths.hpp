// SPDX-License-Identifier: BSD-3-Clause
// Part of hocket.hpp: blocks of different lengths, and whether spans fit together.
//
// Errors: hocket::Error. Thread safety: as in hocket.h.
#pragma once

#include <hocket/elements.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <string>

namespace hocket {

// Blocks of different lengths: elements of each, and where each begins; without `displacements` one behind the other.
struct Blocks {
  std::span<const size_t> counts = {};
  std::span<const size_t> displacements = {};
};

namespace detail {

[[noreturn]] inline void refuse(const std::string& text) { throw Error(HOCKET_ERR_INVALID_ARGUMENT, text); }

inline void same(size_t one, size_t other) {
  if (one != other) refuse(std::to_string(one) + " and " + std::to_string(other) + " elements should be as many");
}

// A block for each of `peers`, within a buffer of so many elements. `kind`: what a peer is called.
inline void fits(const Blocks& blocks, size_t peers, const char* kind, size_t elements) {
  same(blocks.counts.size(), peers);
  if (!blocks.displacements.empty()) same(blocks.displacements.size(), peers);
  size_t next = 0;
  for (size_t peer = 0; peer < peers; ++peer) {
    const size_t begin = blocks.displacements.empty() ? next : blocks.displacements[peer];
    if (begin > elements || blocks.counts[peer] > elements - begin) {
      refuse(std::string("the block of ") + kind + " " + std::to_string(peer) + " leaves a buffer of " +
             std::to_string(elements) + " elements");
    }
    next = begin + blocks.counts[peer];
  }
}

inline const size_t* displacements(const Blocks& blocks) {
  return blocks.displacements.empty() ? nullptr : blocks.displacements.data();
}

// This rank among those of its communicator.
class Place {
 public:
  explicit Place(const hocket_comm_t* comm) {
    check(hocket_comm_rank(comm, &rank_));
    check(hocket_comm_size(comm, &size_));
  }
  bool is(int root) const noexcept { return rank_ == root; }
  int rank() const noexcept { return rank_; }
  size_t index() const noexcept { return static_cast<size_t>(rank_); }
  size_t size() const noexcept { return static_cast<size_t>(size_); }

  // Of a buffer with one for each rank.
  size_t block(size_t row) const {
    if (row % size() != 0) {
      refuse(std::to_string(row) + " elements can't be a block for each of " + std::to_string(size_) + " ranks");
    }
    return row / size();
  }
  // This rank's own block among all, on the root of a gather or scatter; nullptr elsewhere.
  template <typename T>
  T* own(std::span<T> row, int root) const {
    return is(root) && !row.empty() ? row.data() + index() * block(row.size()) : nullptr;
  }
  template <typename T>
  T* own(std::span<T> row, const Blocks& blocks, int root) const {
    if (!is(root) || row.empty()) return nullptr;
    if (!blocks.displacements.empty()) return row.data() + blocks.displacements[index()];
    const auto before = blocks.counts.first(index());
    return row.data() + std::accumulate(before.begin(), before.end(), size_t{0});
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace detail

}  // namespace hocket
