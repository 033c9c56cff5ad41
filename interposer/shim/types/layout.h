// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a type's element lie, in the order in which they are packed: for memory that MPI_Pack can't read.
// Taken from how the type was made; of a type that is made in a way that isn't known here, by packing an element in
// which each byte holds a part of its own number.
//
// Thread safety: any thread; a layout is a value.
#pragma once

#include <vector>

#include "shim/underneath/next.h"

namespace hocket::interposer {

// Pieces in equal distances.
struct Pieces {
  MPI_Aint at;  // of the first, from where the element begins
  size_t bytes;
  size_t number;
  MPI_Aint distance;
};

struct Layout {
  std::vector<Pieces> pieces;

  // `bytes` that come next.
  void add(MPI_Aint at, size_t bytes);
};

// False: the MPI refuses, or an element is too long to find out by packing.
bool read_layout(MPI_Datatype type, Layout& layout);

}  // namespace hocket::interposer
