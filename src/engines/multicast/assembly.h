// SPDX-License-Identifier: BSD-3-Clause
// A message as it is put together out of fragments that come in any order, some of them twice and some never: a bitmap
// of what has come (Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale
// InfiniBand Clusters with Multicast, section 2.1).
//
// Invariant: nothing is written but a fragment's own place, and that once.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hocket::engines::multicast {

class Assembly {
 public:
  // From now on fragments go to `into`, which lives until the next reset(). A message of no bytes is one fragment, too.
  void reset(std::span<std::byte> into, uint32_t fragment_bytes);
  // False: it has come before, or is no fragment of this message.
  bool take(uint64_t offset, std::span<const std::byte> fragment);
  // Blocks of which something has not come.
  uint64_t missing_blocks() const;
  // All of these, one after the other, by another way.
  void supply(uint64_t blocks, std::span<const std::byte> content);
  bool is_complete() const { return missing_ == 0; }
  // Fragments.
  uint32_t missing() const { return missing_; }
  uint32_t fragments() const { return fragments_; }
  uint64_t bytes() const { return into_.size(); }

 private:
  bool has(uint64_t index) const;

  std::span<std::byte> into_;
  uint32_t fragment_bytes_ = 1;
  uint32_t fragments_ = 0;
  uint32_t missing_ = 0;
  std::vector<uint64_t> come_;  // a bit a fragment; what is beyond is of longer messages before
};

}  // namespace hocket::engines::multicast
