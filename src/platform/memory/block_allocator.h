// SPDX-License-Identifier: BSD-3-Clause
// Which parts of a growing range of offsets are in use: best fit with coalescing. It keeps its books outside of the
// memory it manages, so that no peer can spoil them.
//
// Thread safety: none, the owner locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace hocket::platform {

class BlockAllocator {
 public:
  static constexpr uint64_t kGranule = 64;  // bytes: a cache line, so that no two blocks share one

  // Adds `bytes` more, a multiple of kGranule, at the end of the range.
  void grow(uint64_t bytes);
  uint64_t end() const { return end_; }

  // Offset of a block, or nothing if no free part is large enough. `alignment`: a power of two.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment);
  // By how much the range must grow at least for take(bytes, alignment) to succeed.
  uint64_t missing(uint64_t bytes, uint64_t alignment) const;
  // Size in bytes of the block given back (a multiple of kGranule), or 0 if `offset` is no block in use.
  uint64_t give_back(uint64_t offset);

 private:
  void add_free(uint64_t offset, uint64_t bytes);
  void remove_free(std::map<uint64_t, uint64_t>::iterator part);

  uint64_t end_ = 0;
  std::map<uint64_t, uint64_t> free_;                     // offset -> bytes; neighbours are always merged
  std::set<std::pair<uint64_t, uint64_t>> free_by_size_;  // (bytes, offset), the same parts
  std::unordered_map<uint64_t, uint64_t> used_;           // offset -> bytes
};

}  // namespace hocket::platform
