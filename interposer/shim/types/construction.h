// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, for types from the constructors with int and with MPI_Count alike: the inquiry for the
// former fails on the latter.
//
// Thread safety: any thread.
#pragma once

#include <vector>

#include "shim/underneath/next.h"

namespace hocket::interposer {

struct Construction {
  int combiner = 0;
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
};

// False: the MPI refuses.
bool read_construction(MPI_Datatype type, Construction& construction);

// What was given to the constructor. Of counts, where there are any, the one that took them has all its numbers.
struct Contents {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Datatype> types;  // the caller frees those that are not predefined
};
// Not for types that are predefined themselves.
bool read_contents(MPI_Datatype type, const Construction& construction, Contents& contents);

// The one type that `type` was made of; the caller frees it unless it is predefined. Only for a construction with one.
bool read_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner);

// Not made by the program: never to be freed.
bool is_predefined(const Construction& construction);

}  // namespace hocket::interposer
