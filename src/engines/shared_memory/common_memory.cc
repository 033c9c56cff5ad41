// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/common_memory.h"

#include <algorithm>

#include "base/log.h"
#include "engines/shared_memory/group.h"

namespace hocket::engines::shared_memory {

using platform::CommonBoard;
using platform::FileIdentity;
using platform::FileMapping;

platform::CommonFiles& CommonMemory::files() const { return group_.region().common_files(); }

bool CommonMemory::is_asked() const {
  // Relaxed: a hint. Partner: compare().
  return group_.member(group_.rank()).block->is_asked.load(std::memory_order_relaxed) != 0;
}

void CommonMemory::refresh() {
  if (const uint64_t now = files().epoch(); now != epoch_) {
    epoch_ = now;
    own_.clear();
    views_.clear();
  }
}

const CommonBoard* CommonMemory::board_of(uint32_t peer) const {
  // Acquire: pairs with the release of its owner: the board comes before.
  const uint64_t place = group_.member(peer).block->board.load(std::memory_order_acquire);
  if (place == 0 || !group_.reach(peer, place - 1 + sizeof(CommonBoard)).is_ok()) return nullptr;
  return reinterpret_cast<const CommonBoard*>(group_.member(peer).window.base + place - 1);
}

void CommonMemory::look_for_what_peers_have() {
  RankBlock& mine = *group_.member(group_.rank()).block;
  // Acquire: pairs with the release of who asks: what it has on its board comes before.
  mine.is_asked.exchange(0, std::memory_order_acquire);
  std::vector<FileIdentity> all;
  for (uint32_t peer = 0; peer < group_.size(); ++peer) {
    const CommonBoard* board = peer == group_.rank() ? nullptr : board_of(peer);
    if (board == nullptr) continue;
    for (const FileIdentity& file : board->files()) all.push_back(file);
  }
  files().look_for(all);
  // Release: partner is board_of().
  mine.board.store(files().board_place(), std::memory_order_release);
}

// Which of the addresses of `mine` around a part of it all members have mapped.
CommonMemory::Own CommonMemory::compare(const FileMapping& mine, uintptr_t address, uint64_t bytes) {
  // Release: as above; what is asked below comes after.
  group_.member(group_.rank()).block->board.store(files().board_place(), std::memory_order_release);
  Own found{mine.begin, mine.end, std::nullopt, 0};
  for (uint32_t peer = 0; peer < group_.size(); ++peer) {
    if (peer == group_.rank()) continue;
    const CommonBoard* board = board_of(peer);
    const uint32_t changes = board == nullptr ? 0 : board->changes();  // before the look at its lines
    const std::optional<FileMapping> its =
        board == nullptr ? std::nullopt : board->find(mine.file, mine.offset + (address - mine.begin), bytes);
    if (its) {
      const uint64_t from = std::max(mine.offset, its->offset);
      const uint64_t to = std::min(mine.offset + (mine.end - mine.begin), its->offset + (its->end - its->begin));
      found.begin = std::max(found.begin, mine.begin + (from - mine.offset));
      found.end = std::min(found.end, mine.begin + (to - mine.offset));
      continue;
    }
    // Release: this rank's board comes before. Partner: look_for_what_peers_have().
    group_.member(peer).block->is_asked.store(1, std::memory_order_release);
    if (found.lacking) continue;
    found.lacking = peer;
    found.changes = changes;
  }
  return found;
}

uint64_t CommonMemory::find(const std::byte* memory, uint64_t bytes) {
  refresh();
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const auto known = std::find_if(own_.begin(), own_.end(), [&](const Own& one) {
    return address >= one.begin && address < one.end && bytes <= one.end - address;
  });
  bool is_common = known != own_.end() && !known->lacking;
  if (known != own_.end() && known->lacking) {
    const CommonBoard* board = board_of(*known->lacking);
    if ((board == nullptr ? 0 : board->changes()) == known->changes) {
      files().count(false);
      return kInline;
    }
    own_.erase(known);
  }
  if (!is_common) {
    const std::optional<FileMapping> mine = files().find(memory, bytes);
    if (!mine) return kInline;
    refresh();
    own_.push_back(compare(*mine, address, bytes));
    is_common = !own_.back().lacking;
  }
  files().count(is_common);
  return is_common ? kCommon | address : kInline;
}

std::byte* CommonMemory::at(uint32_t peer, uint64_t address, uint64_t bytes) {
  refresh();
  for (const View& view : views_) {
    if (view.peer == peer && address >= view.begin && address < view.end && bytes <= view.end - address)
      return view.here + (address - view.begin);
  }
  const CommonBoard* board = board_of(peer);
  const std::optional<FileMapping> its = board == nullptr ? std::nullopt : board->find(address, bytes);
  if (!its) return nullptr;
  const std::optional<FileMapping> mine = files().find(its->file, its->offset + (address - its->begin), bytes);
  if (!mine) return nullptr;
  const uint64_t from = std::max(mine->offset, its->offset);
  const uint64_t to = std::min(mine->offset + (mine->end - mine->begin), its->offset + (its->end - its->begin));
  views_.push_back({peer, its->begin + (from - its->offset), its->begin + (to - its->offset),
                    reinterpret_cast<std::byte*>(mine->begin + (from - mine->offset))});
  const View& view = views_.back();
  return view.here + (address - view.begin);
}

}  // namespace hocket::engines::shared_memory
