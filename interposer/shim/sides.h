// SPDX-License-Identifier: BSD-3-Clause
// One side, sending or receiving, of a collective that moves blocks between ranks: as the program describes it, and in
// bytes as hocket takes it.
//
// Thread safety: a side belongs to one call.
#pragma once

#include "shim/numbers.h"
#include "shim/packing.h"
#include "shim/types.h"

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
  bool is_packed = false;            // the bytes lie in memory otherwise than they are sent
  unsigned char* first = nullptr;    // unless packed: of uniform blocks the first byte, of others the lowest address
  size_t bytes = 0;                  // of one uniform block, of all others together
  size_t own_bytes = 0;              // of this rank's block
  size_t* counts = nullptr;          // of blocks that aren't uniform, in bytes
  size_t* displacements = nullptr;   // of the same, in bytes from `first`; nullptr: one after the other
  const TypeFacts* facts = nullptr;  // of a side that isn't typed
};

// Of a side that has `number` blocks on this rank, `own` being the index of its own. `numbers`: room for twice as many.
// False: the arguments look wrong.
bool measure(const Side& side, int number, int own, size_t* numbers, MPI_Comm comm, Blocks& blocks);

// A block as the program has it.
Elements block(const Side& side, const Blocks& blocks, int index, MPI_Comm comm);
// Where it begins, without an offset that its type may have. Not for typed sides.
const void* address_of(const Side& side, const Blocks& blocks, int index);

size_t total_bytes(const Side& side, const Blocks& blocks);
// Copies blocks to, or from, the room where they lie packed one after the other.
void pack_all(const Side& side, const Blocks& blocks, Packed& packed, MPI_Comm comm);
void pack_one(const Side& side, const Blocks& blocks, int index, Packed& packed, MPI_Comm comm);
void unpack_all(const Side& side, const Blocks& blocks, Packed& packed, MPI_Comm comm);

}  // namespace hocket::interposer
