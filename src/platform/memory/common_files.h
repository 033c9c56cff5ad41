// SPDX-License-Identifier: BSD-3-Clause
// Memory that isn't the region's but lies in files that peers have mapped as well, as that of an MPI's windows does.
//
// For a window on a node an MPI makes a file that each of its ranks maps, wherever it likes. Nothing is mapped a second
// time: a process finds the file of what it has in its list of mappings and says so on a board in its region, and peers
// find the same file in theirs. It looks for it only when the copies that could have been saved took about as long as
// looking does, or when a peer asks: windows of which collectives make no use cost a few instructions.
//
// Invariants
//   a file is on the board only while it is mapped, and with it stays what a peer was told
//   what a window that is being freed has is not given to peers any more; what they were given they may still ask for
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "platform/memory/common_board.h"
#include "platform/memory/file_mappings.h"

namespace hocket::platform {

class SharedRegion;

class CommonFiles {
 public:
  // Of a window's memory in large steps of calls, so much has to be copied before its file is looked for.
  static constexpr uint64_t kCopiedBeforeLook = uint64_t{4} << 20;
  // Addresses beyond are not for peers to be told.
  static constexpr uintptr_t kAddresses = (uintptr_t{1} << 47) - 4096;

  explicit CommonFiles(SharedRegion& region) : region_(region) {}

  // A window, under a number of the caller's, has memory here.
  void come(uint64_t window, const void* memory, size_t bytes);
  // Before it is freed, which takes all of its ranks; and when that has failed.
  void close(uint64_t window) { set_open(window, false); }
  void reopen(uint64_t window) { set_open(window, true); }
  // It has been freed. Also of those that have no memory here: others' may have been looked for.
  void go(uint64_t window);

  // Whether any window has memory. Relaxed: a thread that passes a window's memory knows of the window.
  bool are_any() const { return are_any_.load(std::memory_order_relaxed); }
  // Another number after each change: what was found before is to be looked up anew. Acquire: pairs with the release
  // in changed().
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // The file with memory of an open window. Nothing: it is no window's, or in no file, or not looked for yet, for which
  // this counts as a copy of so many bytes.
  std::optional<FileMapping> find(const void* memory, uint64_t bytes);
  // Where a part of a file is here: one that a peer says that this process has.
  std::optional<FileMapping> find(const FileIdentity& file, uint64_t offset, uint64_t bytes);
  // Looks for files that peers have on their boards.
  void look_for(const std::vector<FileIdentity>& files);

  // 1 + where the board is in the region; 0: there is none yet.
  uint64_t board_place() const;

  // How often peers were given a window's memory as it lies, and how often a copy of it. Relaxed: they order nothing.
  void count(bool in_place) { (in_place ? in_place_ : copied_).fetch_add(1, std::memory_order_relaxed); }
  uint64_t times_in_place() const { return in_place_.load(std::memory_order_relaxed); }
  uint64_t times_copied() const { return copied_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kNoLine = CommonBoard::kLines;
  struct Part {
    uint64_t window = 0;
    uintptr_t begin = 0;
    uintptr_t end = 0;
    uint64_t copied = 0;  // bytes
    bool is_open = true;
    bool was_looked_for = false;
    uint32_t line = kNoLine;
  };
  void set_open(uint64_t window, bool is_open);
  void changed();
  // Of `mine_`, and on the board.
  uint32_t announce(const FileMapping& mapping);
  void tie(Part& part, uint32_t line) const;
  Part* part_of(uintptr_t address);
  void look_for_parts();
  bool is_given(uint32_t line) const;
  bool has_on_board(const FileIdentity& file) const;

  SharedRegion& region_;
  std::atomic<bool> are_any_{false};
  std::atomic<uint64_t> epoch_{1};
  std::atomic<uint64_t> in_place_{0};
  std::atomic<uint64_t> copied_{0};
  mutable std::mutex mutex_;  // for:
  std::vector<Part> parts_;   // by address
  FileMapping mine_[CommonBoard::kLines];
  uint32_t lines_ = 0;                 // beyond, all are free
  std::vector<FileIdentity> missing_;  // looked for in vain since windows last came or went
  CommonBoard* board_ = nullptr;
  bool has_board_failed_ = false;
};

}  // namespace hocket::platform
