// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, for types from the constructors with int and with MPI_Count alike: the inquiry for the
// former fails on the latter.
//
// Thread safety: any thread.
#pragma once

#include "shim/next.h"

namespace hocket::interposer {

struct Construction {
  int combiner = 0;
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
};

// False: the MPI refuses.
bool read_construction(MPI_Datatype type, Construction& construction);

// The one type that `type` was made of; the caller frees it unless it is predefined. Only for a construction with one.
bool read_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner);

}  // namespace hocket::interposer
