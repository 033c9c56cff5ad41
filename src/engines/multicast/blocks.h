// SPDX-License-Identifier: BSD-3-Clause
// How a message is divided to say what is missing of it in one word: at most 64 blocks of whole fragments, a bit each.
//
// Thread safety: pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hocket::engines::multicast {

class Blocks {
 public:
  static constexpr uint32_t kMost = 64;

  Blocks(uint64_t bytes, uint32_t fragment_bytes) : bytes_(bytes) {
    const uint64_t fragments = std::max<uint64_t>(1, (bytes + fragment_bytes - 1) / fragment_bytes);
    const uint64_t in_block = (fragments + kMost - 1) / kMost;
    block_bytes_ = in_block * fragment_bytes;
    count_ = static_cast<uint32_t>((fragments + in_block - 1) / in_block);
  }

  uint32_t count() const { return count_; }
  uint64_t all() const { return count_ == kMost ? ~uint64_t{0} : (uint64_t{1} << count_) - 1; }
  uint64_t begin(uint32_t block) const { return block * block_bytes_; }
  uint64_t length(uint32_t block) const { return std::min(block_bytes_, bytes_ - begin(block)); }
  uint32_t of(uint64_t offset) const { return static_cast<uint32_t>(offset / block_bytes_); }
  // Those of `blocks` one after the other.
  template <typename F>
  void each(uint64_t blocks, F&& f) const {
    for (uint32_t block = 0; block < count_; ++block)
      if ((blocks >> block & 1) != 0) f(block);
  }
  uint64_t bytes(uint64_t blocks) const {
    uint64_t sum = 0;
    each(blocks, [&](uint32_t block) { sum += length(block); });
    return sum;
  }
  // As many of the first ones as `most_bytes` hold, but one at least.
  uint64_t first(uint64_t blocks, uint64_t most_bytes) const {
    uint64_t chosen = 0;
    uint64_t sum = 0;
    each(blocks, [&](uint32_t block) {
      sum += length(block);
      if (chosen == 0 || sum <= most_bytes) chosen |= uint64_t{1} << block;
    });
    return chosen;
  }

 private:
  uint64_t bytes_;
  uint64_t block_bytes_ = 0;
  uint32_t count_ = 0;
};

}  // namespace hocket::engines::multicast
