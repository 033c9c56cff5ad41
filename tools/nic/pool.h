// SPDX-License-Identifier: BSD-3-Clause
// Runs of numbers that groups have of a table that all of an engine's share.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <map>

namespace hocket::nic {

class Pool {
 public:
  explicit Pool(uint32_t size) : size_(size) {}

  // The first of `count` consecutive free entries; -1: there are none.
  int64_t find(uint32_t count) const {
    uint32_t first = 0;
    for (const auto& [begin, length] : taken_) {
      if (begin - first >= count) break;
      first = begin + length;
    }
    return first + count <= size_ ? int64_t{first} : int64_t{-1};
  }
  // Taking none is fine: a user without entries does not stand in the way of others.
  void take(uint32_t first, uint32_t count) {
    if (count != 0) taken_[first] = count;
  }
  void give_back(uint32_t first, uint32_t count) {
    if (count != 0) taken_.erase(first);
  }

 private:
  uint32_t size_;
  std::map<uint32_t, uint32_t> taken_;  // first, length
};

}  // namespace hocket::nic
