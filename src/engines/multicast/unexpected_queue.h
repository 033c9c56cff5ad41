// SPDX-License-Identifier: BSD-3-Clause
// Fragments that came before anybody awaited their message, as many as there is room for.
//
// Usually there are none or a few, so they lie in a list that is searched from end to end.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/multicast/assembly.h"

namespace hocket::engines::multicast {

class UnexpectedQueue {
 public:
  enum class Verdict : uint8_t { kKept, kRepeated, kNoRoom };
  // Which message a fragment is of.
  struct Name {
    uint32_t stream = 0;
    uint32_t source = 0;
    uint64_t number = 0;

    bool operator==(const Name&) const = default;
  };
  // Room for `bytes` in fragments of `fragment_bytes` at most; its memory is taken as it is needed.
  UnexpectedQueue(uint64_t bytes, uint32_t fragment_bytes);

  // `whole`: the bytes of the message.
  Verdict keep(const Name& name, uint64_t whole, uint64_t offset, std::span<const std::byte> fragment);
  // Gives all fragments of the message to the assembly, or drops those that are of another length than it. Gives how
  // many were of use.
  uint32_t move_to(const Name& name, Assembly& assembly);
  size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    Name name;
    uint64_t whole = 0;
    uint64_t offset = 0;
    uint32_t bytes = 0;
    uint32_t block = 0;
  };
  std::byte* memory_of(uint32_t block) { return blocks_[block].get(); }

  uint32_t fragment_bytes_;
  size_t most_;
  std::vector<Kept> kept_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<uint32_t> free_;
};

}  // namespace hocket::engines::multicast
