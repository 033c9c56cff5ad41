// SPDX-License-Identifier: BSD-3-Clause
// Memory of windows, which all ranks of a node have mapped, as a lane needs it: whether all members have it, so that it
// may be published as it lies, and where it is here when a peer says that its data lie there.
//
// A rank that would publish such memory looks at its peers' boards. Those that say nothing of it are asked, and look
// for it in their next large step; until then there are copies. No rank waits for an answer.
//
// Thread safety: as NodeGroup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/shared_memory/layout.h"
#include "platform/memory/common_files.h"

namespace hocket::engines::shared_memory {

class NodeGroup;

class CommonMemory {
 public:
  explicit CommonMemory(NodeGroup& group) : group_(group) {}
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;

  // As a line names it, without the mark; kInline where peers can't read it so.
  uint64_t location_of(const std::byte* memory, uint64_t bytes) {
    return files().are_any() ? find(memory, bytes) : kInline;
  }
  // Where memory of a member is here that it has named so; nullptr: nowhere, though it said so.
  std::byte* at(uint32_t peer, uint64_t address, uint64_t bytes);
  // In steps that move much: says what peers have asked for.
  void answer() {
    if (is_asked()) [[unlikely]]
      look_for_what_peers_have();
  }

 private:
  // Addresses with memory of an open window.
  struct Own {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    std::optional<uint32_t> lacking;  // a member that hasn't said that it has it
    uint32_t changes = 0;             // of its board, when that was so
  };
  // A peer's addresses, which show what is mapped at `here`.
  struct View {
    uint32_t peer = 0;
    uintptr_t begin = 0;
    uintptr_t end = 0;
    std::byte* here = nullptr;
  };

  platform::CommonFiles& files() const;
  bool is_asked() const;
  void look_for_what_peers_have();
  uint64_t find(const std::byte* memory, uint64_t bytes);
  Own compare(const platform::FileMapping& mine, uintptr_t address, uint64_t bytes);
  const platform::CommonBoard* board_of(uint32_t peer) const;
  // What was found holds no longer than what windows there are.
  void refresh();

  NodeGroup& group_;
  uint64_t epoch_ = 0;
  std::vector<Own> own_;
  std::vector<View> views_;
};

}  // namespace hocket::engines::shared_memory
