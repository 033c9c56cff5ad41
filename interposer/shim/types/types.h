// SPDX-License-Identifier: BSD-3-Clause
// What a datatype means for hocket. Predefined types are known from the start; of a derived type it is found out once
// and kept with it as an attribute.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hocket/hocket.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

struct TypeFacts {
  size_t size = 0;  // bytes of the signature
  MPI_Aint extent = 0;
  MPI_Aint true_lb = 0;
  bool is_named = false;
  // The bytes of one element lie in memory, from true_lb on, just as they would be packed; of several if also
  // size == extent.
  bool is_dense = false;
  hocket_type_t hocket_type = 0;  // 0: not one of hocket's
  uint16_t hocket_ops = 0;        // bit i: hocket has its own kernel for the operation with index i
  uint16_t mpi_ops = 0;           // bit i: carried out element by element by the MPI

  bool is_dense_array(size_t count) const { return is_dense && (count <= 1 || static_cast<MPI_Aint>(size) == extent); }
};

// nullptr: not a type, or one that the MPI refuses; the caller passes the call through, for the MPI to say so, which
// hears nothing of it here. Valid as long as the type is.
const TypeFacts* find_type(MPI_Datatype type);

// For our own use.
MPI_Datatype uint64_type();

void fill_types();
bool watch_types();
void unwatch_types();

}  // namespace hocket::interposer
