// SPDX-License-Identifier: BSD-3-Clause
// What members of a group leave for each other beside all calls, each under a number that says what it is about. By
// them ranks that have met make another communicator without a message.
//
// They lie behind the members' blocks, for which whoever makes the group has seen to the room. A rank has room for a
// few: what it has left is overwritten by what it leaves later, so it leaves no more before the others have read it.
//
// Thread safety: of each rank one thread at a time leaves notices; any reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engines/shared_memory/group.h"

namespace hocket::engines::shared_memory {

inline constexpr size_t kNoticeBytes = 2032;
inline constexpr uint32_t kNotices = 4;

struct alignas(64) Notice {
  std::atomic<uint64_t> number;  // written last, read first and last; 0: nothing, or it is being written
  uint64_t bytes;                // that are stored; the zeros at the text's end are left out
  std::byte text[kNoticeBytes];
};

struct alignas(64) NoticeBoard {
  Notice notices[kNotices];
  uint64_t left;  // how many; the owner's
};

class Notices {
 public:
  explicit Notices(const NodeGroup& group) : group_(group) {}
  // `number` isn't 0, and `bytes` no more than kNoticeBytes.
  void leave(uint64_t number, const void* text, size_t bytes);
  // False: that rank has not left it yet.
  bool read(uint32_t rank, uint64_t number, void* text, size_t bytes) const;

 private:
  NoticeBoard& board(uint32_t rank) const;
  const NodeGroup& group_;
};

}  // namespace hocket::engines::shared_memory
