// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/block_allocator.h"

#include <iterator>

namespace hocket::platform {
namespace {

uint64_t up_to_multiple(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

void BlockAllocator::grow(uint64_t bytes) {
  const uint64_t at = end_;
  end_ += bytes;
  add_free(at, bytes);
}

std::optional<uint64_t> BlockAllocator::take(uint64_t bytes, uint64_t alignment) {
  bytes = up_to_multiple(bytes == 0 ? 1 : bytes, kGranule);
  for (auto fit = free_by_size_.lower_bound({bytes, 0}); fit != free_by_size_.end(); ++fit) {
    const auto [size, offset] = *fit;
    const uint64_t at = up_to_multiple(offset, alignment);
    if (at - offset > size || size - (at - offset) < bytes) continue;
    remove_free(free_.find(offset));
    add_free(offset, at - offset);
    add_free(at + bytes, size - (at - offset) - bytes);
    used_[at] = bytes;
    return at;
  }
  return std::nullopt;
}

uint64_t BlockAllocator::missing(uint64_t bytes, uint64_t alignment) const {
  bytes = up_to_multiple(bytes == 0 ? 1 : bytes, kGranule);
  uint64_t from = end_;
  if (!free_.empty()) {
    const auto last = std::prev(free_.end());
    if (last->first + last->second == end_) from = last->first;
  }
  const uint64_t needed = up_to_multiple(from, alignment) + bytes;
  return needed > end_ ? needed - end_ : 0;
}

uint64_t BlockAllocator::give_back(uint64_t offset) {
  const auto block = used_.find(offset);
  if (block == used_.end()) return 0;
  const uint64_t bytes = block->second;
  used_.erase(block);
  add_free(offset, bytes);
  return bytes;
}

void BlockAllocator::add_free(uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    auto merged = next++;
    remove_free(merged);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      remove_free(previous);
    }
  }
  free_.emplace(offset, bytes);
  free_by_size_.emplace(bytes, offset);
}

void BlockAllocator::remove_free(std::map<uint64_t, uint64_t>::iterator part) {
  free_by_size_.erase({part->second, part->first});
  free_.erase(part);
}

}  // namespace hocket::platform
