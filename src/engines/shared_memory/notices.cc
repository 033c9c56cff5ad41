// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/notices.h"

#include <algorithm>
#include <cstring>

#include "base/assertion.h"

namespace hocket::engines::shared_memory {

NoticeBoard& Notices::board(uint32_t rank) const {
  auto* const block = reinterpret_cast<std::byte*>(group_.member(rank).block);
  return *reinterpret_cast<NoticeBoard*>(block + RankBlock::bytes(group_.size()));
}

void Notices::leave(uint64_t number, const void* text, size_t bytes) {
  HOCKET_ASSERT(number != 0 && bytes <= kNoticeBytes, "a notice has a number, and room for its text");
  NoticeBoard& own = board(group_.rank());
  Notice& notice = own.notices[own.left++ % kNotices];
  // A reader of the old one that comes too late sees that it has gone; pairs with the fence in read().
  notice.number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const auto* const from = static_cast<const std::byte*>(text);
  while (bytes != 0 && from[bytes - 1] == std::byte{0}) --bytes;
  notice.bytes = bytes;
  std::memcpy(notice.text, text, bytes);
  // Pairs with the acquire in read().
  notice.number.store(number, std::memory_order_release);
}

bool Notices::read(uint32_t rank, uint64_t number, void* text, size_t bytes) const {
  HOCKET_ASSERT(number != 0 && bytes <= kNoticeBytes, "a notice has a number, and room for its text");
  for (const Notice& notice : board(rank).notices) {
    // Pairs with the last store in leave(), and the fence with the one there.
    if (notice.number.load(std::memory_order_acquire) != number) continue;
    const size_t told = std::min<size_t>(notice.bytes, bytes);
    std::memcpy(text, notice.text, told);
    std::memset(static_cast<std::byte*>(text) + told, 0, bytes - told);
    std::atomic_thread_fence(std::memory_order_acquire);
    return notice.number.load(std::memory_order_relaxed) == number;
  }
  return false;
}

}  // namespace hocket::engines::shared_memory
