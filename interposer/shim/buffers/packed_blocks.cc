// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/packed_blocks.h"

#include <algorithm>

namespace hocket::interposer {

PackedBlocks::PackedBlocks(Packed& room, const Side& side, const Blocks& blocks) : room_(room) {
  const bool is_uniform = side.layout == Side::Layout::kUniform;
  blocks_.reserve(static_cast<size_t>(blocks.number));
  size_t begin = 0;
  for (int i = 0; i < blocks.number; ++i) {
    const size_t bytes = is_uniform ? blocks.bytes : blocks.counts[i];
    if (bytes != 0) add(begin, block(side, blocks, i));
    begin += bytes;
  }
}

PackedBlocks::PackedBlocks(Packed& room, const Elements& elements) : room_(room) { add(0, elements); }

void PackedBlocks::add(size_t begin, const Elements& elements) {
  blocks_.push_back({begin, elements, *elements.facts});
  bytes_ = begin + elements.bytes();
}

template <typename Visit>
bool PackedBlocks::for_blocks_of(const std::byte* first, size_t bytes, const Visit& visit) {
  // Memory of other owners can lie on either side.
  const auto offset = reinterpret_cast<uintptr_t>(first) - reinterpret_cast<uintptr_t>(room_.bytes());
  if (offset >= bytes_) return true;
  const size_t end = std::min(bytes_, offset + bytes);
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                                [](size_t at, const Block& one) { return at < one.begin + one.bytes(); });
  for (; block != blocks_.end() && block->begin < end; ++block) {
    const size_t from = std::max(offset, block->begin) - block->begin;
    if (!visit(*block, from, std::min(end - block->begin, block->bytes()))) return false;
  }
  return true;
}

bool PackedBlocks::pack(const std::byte* first, size_t bytes) {
  return for_blocks_of(first, bytes, [&](Block& block, size_t, size_t end) {
    const size_t size = block.facts.size;
    const size_t wanted = (end + size - 1) / size;
    if (wanted <= block.moved) return true;
    room_.pack_at(block.begin + block.moved * size, block.part(block.moved, wanted - block.moved));
    block.moved = wanted;
    return room_.error() == MPI_SUCCESS;
  });
}

void PackedBlocks::unpack_until(Block& block, size_t elements) {
  if (elements <= block.moved) return;
  const size_t size = block.facts.size;
  room_.unpack_at(block.begin + block.moved * size, block.part(block.moved, elements - block.moved));
  block.moved = elements;
}

void PackedBlocks::unpack(const std::byte* first, size_t bytes) {
  for_blocks_of(first, bytes, [&](Block& block, size_t begin, size_t end) {
    if (begin != block.arrived) return true;
    block.arrived = end;
    unpack_until(block, end / block.facts.size);
    return true;
  });
}

void PackedBlocks::unpack_rest() {
  for (Block& block : blocks_) unpack_until(block, block.elements.count);
}

void PackedOnDemand::need(const std::byte* first, uint64_t bytes) {
  if (input_ != nullptr && !input_->pack(first, bytes)) throw PackingFailed();
}

void PackedOnDemand::arrived(const std::byte* first, uint64_t bytes) {
  if (output_ != nullptr) output_->unpack(first, bytes);
}

}  // namespace hocket::interposer
