// SPDX-License-Identifier: BSD-3-Clause
#include "engines/multicast/unexpected_queue.h"

#include <algorithm>
#include <cstring>

namespace hocket::engines::multicast {

UnexpectedQueue::UnexpectedQueue(uint64_t bytes, uint32_t fragment_bytes)
    : fragment_bytes_(fragment_bytes), most_(static_cast<size_t>(bytes / std::max(fragment_bytes, 1u))) {}

UnexpectedQueue::Verdict UnexpectedQueue::keep(const Name& name, uint64_t whole, uint64_t offset,
                                               std::span<const std::byte> fragment) {
  const auto is_same = [&](const Kept& one) { return one.name == name && one.offset == offset; };
  if (std::any_of(kept_.begin(), kept_.end(), is_same)) return Verdict::kRepeated;
  if (kept_.size() >= most_ || fragment.size() > fragment_bytes_) return Verdict::kNoRoom;
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(blocks_.size()));
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(fragment_bytes_));
  }
  const uint32_t block = free_.back();
  free_.pop_back();
  if (!fragment.empty()) std::memcpy(memory_of(block), fragment.data(), fragment.size());
  kept_.push_back({name, whole, offset, static_cast<uint32_t>(fragment.size()), block});
  return Verdict::kKept;
}

uint32_t UnexpectedQueue::move_to(const Name& name, Assembly& assembly) {
  uint32_t used = 0;
  std::erase_if(kept_, [&](const Kept& one) {
    if (one.name != name) return false;
    if (one.whole == assembly.bytes() && assembly.take(one.offset, {memory_of(one.block), one.bytes})) ++used;
    free_.push_back(one.block);
    return true;
  });
  return used;
}

}  // namespace hocket::engines::multicast
