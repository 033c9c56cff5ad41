// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/sides.h"

#include <algorithm>

namespace hocket::interposer {
namespace {

// Displacements may be negative, and those from MPI_BOTTOM are addresses: hocket's count from the lowest block.
void count_from_lowest(const Side& side, intptr_t lowest, Blocks& blocks) {
  blocks.first = reinterpret_cast<unsigned char*>(reinterpret_cast<intptr_t>(side.buffer) + lowest);
  if (lowest == 0) return;
  for (int i = 0; i < blocks.number; ++i) {
    if (blocks.counts[i] != 0) blocks.displacements[i] -= static_cast<size_t>(lowest);
  }
}

// A predefined type at NULL is a mistake, unless a displacement that can be an address says otherwise.
bool is_nowhere(const Side& side, const TypeFacts& facts, int64_t displacement) {
  return facts.is_named && (!side.displacements.is_wide() || displacement == 0);
}

// Absolute addresses may be anywhere; other blocks are in one piece of memory.
bool must_be_staged(const Side& side, const Blocks& blocks) {
  if (side.buffer != nullptr) return device::needs_staging(blocks.first, blocks.bytes);
  for (int i = 0; i < blocks.number; ++i) {
    if (device::needs_staging(blocks.first + blocks.displacements[i], blocks.counts[i])) return true;
  }
  return false;
}

}  // namespace

bool internal::measure_different(const Side& side, int own, Blocks& blocks) {
  const bool is_typed = side.layout == Side::Layout::kTyped;
  if (!side.counts.is_there() || !side.displacements.is_there() || side.buffer == MPI_IN_PLACE) return false;
  if (is_typed && side.types == nullptr) return false;
  const TypeFacts* facts = nullptr;
  MPI_Datatype type = side.type;
  if (!is_typed && (blocks.facts = facts = find_type(type)) == nullptr) return false;
  intptr_t lowest = INTPTR_MAX;
  for (int i = 0; i < blocks.number; ++i) {
    const int64_t count = side.counts[i];
    blocks.counts[i] = blocks.displacements[i] = 0;
    if (count == 0) continue;
    if (count < 0) return false;
    if (is_typed && (facts == nullptr || side.types[i] != type)) {
      type = side.types[i];
      if ((facts = find_type(type)) == nullptr) return false;
    }
    if (facts->size == 0) continue;
    const int64_t displacement = side.displacements[i];
    if (side.buffer == nullptr && is_nowhere(side, *facts, displacement)) return false;
    ptrdiff_t bytes = 0, all_bytes = 0;  // more than that no memory can hold
    if (__builtin_mul_overflow(static_cast<size_t>(count), facts->size, &bytes)) return false;
    if (__builtin_add_overflow(blocks.bytes, bytes, &all_bytes)) return false;
    blocks.bytes = static_cast<size_t>(all_bytes);
    const intptr_t place = displacement * (is_typed ? 1 : facts->extent) + facts->true_lb;
    blocks.counts[i] = static_cast<size_t>(bytes);
    blocks.displacements[i] = static_cast<size_t>(place);
    blocks.is_packed = blocks.is_packed || !facts->is_dense_array(static_cast<size_t>(count));
    lowest = std::min(lowest, place);
  }
  blocks.own_bytes = blocks.counts[own];
  count_from_lowest(side, blocks.bytes != 0 ? lowest : 0, blocks);
  if (device::may_be_there() && !blocks.is_packed) [[unlikely]]
    blocks.is_packed = must_be_staged(side, blocks);
  return true;
}

Elements block(const Side& side, const Blocks& blocks, int index) {
  switch (side.layout) {
    case Side::Layout::kUniform:
      return {address_of(side, blocks, index), static_cast<size_t>(side.count), side.type, blocks.facts};
    case Side::Layout::kVector:
      return {address_of(side, blocks, index), static_cast<size_t>(side.counts[index]), side.type, blocks.facts};
    case Side::Layout::kTyped:
      break;
  }
  const auto address = reinterpret_cast<intptr_t>(side.buffer) + side.displacements[index];
  return {reinterpret_cast<const void*>(address), static_cast<size_t>(side.counts[index]), side.types[index],
          find_type(side.types[index])};
}

size_t total_bytes(const Side& side, const Blocks& blocks) {
  const bool is_uniform = side.layout == Side::Layout::kUniform;
  return is_uniform ? blocks.bytes * static_cast<size_t>(blocks.number) : blocks.bytes;
}

namespace {

// `visit(where its bytes begin when packed, block)`.
template <typename Visit>
void for_each_block(const Side& side, const Blocks& blocks, const Visit& visit) {
  if (side.layout == Side::Layout::kUniform) {
    Elements all = block(side, blocks, 0);
    all.count *= static_cast<size_t>(blocks.number);
    return visit(0, all);
  }
  size_t at = 0;
  for (int i = 0; i < blocks.number; ++i) {
    if (blocks.counts[i] == 0) continue;
    visit(at, block(side, blocks, i));
    at += blocks.counts[i];
  }
}

}  // namespace

void pack_all(const Side& side, const Blocks& blocks, Packed& packed) {
  for_each_block(side, blocks, [&](size_t at, const Elements& elements) { packed.pack_at(at, elements); });
}

void pack_one(const Side& side, const Blocks& blocks, int index, Packed& packed) {
  size_t at = 0;
  const bool is_uniform = side.layout == Side::Layout::kUniform;
  for (int i = 0; i < index; ++i) at += is_uniform ? blocks.bytes : blocks.counts[i];
  if (blocks.own_bytes != 0) packed.pack_at(at, block(side, blocks, index));
}

void unpack_all(const Side& side, const Blocks& blocks, Packed& packed) {
  for_each_block(side, blocks, [&](size_t at, const Elements& elements) { packed.unpack_at(at, elements); });
}

}  // namespace hocket::interposer
