// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking part by part while a call goes on: a block's next elements are packed when hocket comes to read
// them, so that peers work on what they have got meanwhile, and unpacked as they come. Which parts those are is up to
// the schedule; a block is packed from its beginning on, in whole elements.
//
// Short calls, and ranks that share a core with those that would work meanwhile, do better to pack all at once. A rank
// decides it for itself.
//
// Thread safety: an object belongs to one call.
#pragma once

#include <exception>
#include <vector>

#include "c_api/internal/call.h"
#include "shim/buffers/sides.h"

namespace hocket::interposer {

// One side that is packed, block after block, in its room.
class PackedBlocks {
 public:
  // There must be room; all of these outlive the object.
  PackedBlocks(Packed& room, const Side& side, const Blocks& blocks);
  PackedBlocks(Packed& room, const Elements& elements);

  // Packs at least the `bytes` from `first` on. Other memory than the room's means nothing. False: it failed.
  bool pack(const std::byte* first, size_t bytes);
  // The `bytes` from `first` on have come: unpacks whole elements as far as all before them in the block have come,
  // too.
  void unpack(const std::byte* first, size_t bytes);
  // All has come.
  void unpack_rest();

 private:
  struct Block {
    size_t begin;  // in the room
    Elements elements;
    TypeFacts facts;     // of the elements: find_type() lends them for a while only
    size_t moved = 0;    // elements that have been packed or unpacked
    size_t arrived = 0;  // bytes, without gaps

    size_t bytes() const { return elements.count * facts.size; }
    Elements part(size_t first, size_t length) const {
      return Elements{elements.buffer, elements.count, elements.type, &facts}.part(first, length);
    }
  };
  void add(size_t begin, const Elements& elements);
  // `visit(block, first byte in it, one past the last)` for the blocks that the bytes lie in, until it says false.
  template <typename Visit>
  bool for_blocks_of(const std::byte* first, size_t bytes, const Visit& visit);
  void unpack_until(Block& block, size_t elements);

  Packed& room_;
  size_t bytes_ = 0;
  std::vector<Block> blocks_;
};

// Of a blocking call whose input, output or both come in parts.
class PackedOnDemand final : public c_api::OnDemand {
 public:
  // Of a side that is so long.
  static bool is_worth_while(const hocket_comm_t* comm, size_t bytes) {
    return bytes >= kLeastBytes && c_api::overlaps_work(comm);
  }

  // nullptr: that side lies ready as a whole.
  PackedOnDemand(PackedBlocks* input, PackedBlocks* output) : input_(input), output_(output) {}
  void need(const std::byte* first, uint64_t bytes) override;
  void arrived(const std::byte* first, uint64_t bytes) override;

 private:
  static constexpr size_t kLeastBytes = size_t{64} << 10;
  PackedBlocks* input_;
  PackedBlocks* output_;
};

// Ends a call for whose peers something could not be packed.
struct PackingFailed : std::exception {
  const char* what() const noexcept override { return kPackingFailed; }
};

}  // namespace hocket::interposer
