// SPDX-License-Identifier: BSD-3-Clause
// One side, sending or receiving, of a collective that moves blocks between ranks: as the program describes it, and in
// bytes as hocket takes it.
//
// Thread safety: a side belongs to one call.
#pragma once

#include "shim/buffers/numbers.h"
#include "shim/buffers/packing.h"
#include "shim/types/types.h"

namespace hocket::interposer {

// The program's arguments.
struct Side {
  enum class Layout : uint8_t {
    kUniform,  // blocks are alike and lie one after the other
    kVector,   // each has its count and its displacement, in extents of the type
    kTyped,    // and its type, with the displacement in bytes
  };
  Layout layout;
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  Numbers counts;
  Numbers displacements;
  const MPI_Datatype* types;
};

inline Side uniform_side(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {Side::Layout::kUniform, buffer, count, type, {}, {}, nullptr};
}
template <typename Count, typename Displacement>
Side vector_side(const void* buffer, const Count* counts, const Displacement* displacements, MPI_Datatype type) {
  return {Side::Layout::kVector, buffer, 0, type, Numbers(counts), Numbers(displacements), nullptr};
}
template <typename Count, typename Displacement>
Side typed_side(const void* buffer, const Count* counts, const Displacement* displacements, const MPI_Datatype* types) {
  return {Side::Layout::kTyped, buffer, 0, {}, Numbers(counts), Numbers(displacements), types};
}

// What hocket needs of it.
struct Blocks {
  int number = 0;                    // 0: the side has no meaning on this rank
  bool is_packed = false;            // the bytes lie in memory otherwise than they are sent, or in a device's
  unsigned char* first = nullptr;    // unless packed: of uniform blocks the first byte, of others the lowest address
  size_t bytes = 0;                  // of one uniform block, of all others together
  size_t own_bytes = 0;              // of this rank's block
  size_t* counts = nullptr;          // of blocks that aren't uniform, in bytes
  size_t* displacements = nullptr;   // of the same, in bytes from `first`; nullptr: one after the other
  const TypeFacts* facts = nullptr;  // of a side that isn't typed
};

namespace internal {

inline bool measure_uniform(const Side& side, Blocks& blocks) {
  if (side.count < 0) return false;
  blocks.facts = find_type(side.type);
  if (blocks.facts == nullptr) return false;
  const TypeFacts& facts = *blocks.facts;
  if (side.buffer == MPI_IN_PLACE ||
      (side.buffer == nullptr && side.count != 0 && facts.size != 0 && facts.true_lb == 0))
    return false;
  const auto count = static_cast<size_t>(side.count);
  size_t elements = 0;
  ptrdiff_t total = 0;  // more than that no memory can hold
  if (__builtin_mul_overflow(count, static_cast<size_t>(blocks.number), &elements)) return false;
  if (__builtin_mul_overflow(elements, facts.size, &total)) return false;
  blocks.bytes = blocks.own_bytes = count * facts.size;
  blocks.first = static_cast<unsigned char*>(const_cast<void*>(side.buffer)) + facts.true_lb;
  blocks.is_packed = total != 0 && (!facts.is_dense_array(elements) ||
                                    device::needs_staging(blocks.first, static_cast<size_t>(total)));
  return true;
}

bool measure_different(const Side& side, int own, Blocks& blocks);

}  // namespace internal

// Of a side that has `number` blocks on this rank, `own` being the index of its own. `numbers`: room for twice as many.
// False: the arguments look wrong.
inline bool measure(const Side& side, int number, int own, size_t* numbers, Blocks& blocks) {
  blocks.number = number;
  if (side.layout == Side::Layout::kUniform) [[likely]]
    return internal::measure_uniform(side, blocks);
  blocks.counts = numbers;
  blocks.displacements = numbers + number;
  return internal::measure_different(side, own, blocks);
}

// A block as the program has it.
Elements block(const Side& side, const Blocks& blocks, int index);
// Where it begins, without an offset that its type may have. Not for typed sides.
inline const void* address_of(const Side& side, const Blocks& blocks, int index) {
  const bool is_uniform = side.layout == Side::Layout::kUniform;
  const MPI_Aint place = is_uniform ? index * static_cast<MPI_Aint>(side.count) : side.displacements[index];
  return reinterpret_cast<const void*>(reinterpret_cast<intptr_t>(side.buffer) + place * blocks.facts->extent);
}

size_t total_bytes(const Side& side, const Blocks& blocks);
// Copies blocks to, or from, the room where they lie packed one after the other.
void pack_all(const Side& side, const Blocks& blocks, Packed& packed);
void pack_one(const Side& side, const Blocks& blocks, int index, Packed& packed);
void unpack_all(const Side& side, const Blocks& blocks, Packed& packed);

}  // namespace hocket::interposer
