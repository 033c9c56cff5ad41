// SPDX-License-Identifier: BSD-3-Clause
// Which files a process has mapped that its peers may have mapped as well, as it says in memory that they read. All
// zero is a board that says nothing.
//
// Thread safety: one writer at a time, any number of readers. A line may be written anew while it is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/memory/file_mappings.h"

namespace hocket::platform {

class CommonBoard {
 public:
  static constexpr uint32_t kLines = 63;

  // Where there is a free line: which one.
  std::optional<uint32_t> write(const FileMapping& mapping);
  void wipe(uint32_t line);

  // A mapping of all of that part of a file, or that has all of it in its addresses. Nothing: there is none.
  std::optional<FileMapping> find(const FileIdentity& file, uint64_t offset, uint64_t bytes) const;
  std::optional<FileMapping> find(uintptr_t address, uint64_t bytes) const;
  std::vector<FileIdentity> files() const;
  // Another number after each change. Acquire: pairs with the release in changed().
  uint32_t changes() const { return changes_.load(std::memory_order_acquire); }

 private:
  struct alignas(64) Line {
    std::atomic<uint64_t> version;  // odd: being written
    std::atomic<uint64_t> device;
    std::atomic<uint64_t> inode;  // 0: free
    std::atomic<uint64_t> name;
    std::atomic<uint64_t> offset;
    std::atomic<uint64_t> begin;
    std::atomic<uint64_t> end;

    void put(const FileMapping& mapping);
    FileMapping get() const;
  };
  void changed();

  alignas(64) std::atomic<uint32_t> changes_;
  Line lines_[kLines];
};
static_assert(sizeof(CommonBoard) == 64 * (1 + size_t{CommonBoard::kLines}));

}  // namespace hocket::platform
