// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/construction.h"

namespace hocket::interposer {
namespace {

bool read_plain_construction(MPI_Datatype type, Construction& construction) {
  int integers = 0, addresses = 0, types = 0;
  if (next_pmpi().Type_get_envelope(type, &integers, &addresses, &types, &construction.combiner) != MPI_SUCCESS) {
    return false;
  }
  construction.integers = integers;
  construction.addresses = addresses;
  construction.types = types;
  return true;
}

bool read_plain_contents(MPI_Datatype type, const Construction& construction, Contents& contents) {
  return next_pmpi().Type_get_contents(type, static_cast<int>(construction.integers),
                                       static_cast<int>(construction.addresses), static_cast<int>(construction.types),
                                       contents.integers.data(), contents.addresses.data(),
                                       contents.types.data()) == MPI_SUCCESS;
}

// One more of each than needed, for data() not to be NULL.
void make_room(const Construction& construction, Contents& contents) {
  contents.integers.resize(construction.integers + 1);
  contents.addresses.resize(construction.addresses + 1);
  contents.counts.resize(construction.counts + 1);
  contents.types.resize(construction.types + 1);
}

void trim(const Construction& construction, Contents& contents) {
  contents.integers.resize(construction.integers);
  contents.addresses.resize(construction.addresses);
  contents.counts.resize(construction.counts);
  contents.types.resize(construction.types);
}

}  // namespace

#if HOCKET_HAS_COUNT_FUNCTIONS

bool read_construction(MPI_Datatype type, Construction& construction) {
  const auto inquire = next_pmpi().Type_get_envelope_c;
  if (inquire == nullptr) return read_plain_construction(type, construction);
  return inquire(type, &construction.integers, &construction.addresses, &construction.counts, &construction.types,
                 &construction.combiner) == MPI_SUCCESS;
}

bool read_contents(MPI_Datatype type, const Construction& construction, Contents& contents) {
  make_room(construction, contents);
  const bool is_read =
      construction.counts == 0
          ? read_plain_contents(type, construction, contents)
          : next_pmpi().Type_get_contents_c(type, construction.integers, construction.addresses, construction.counts,
                                            construction.types, contents.integers.data(), contents.addresses.data(),
                                            contents.counts.data(), contents.types.data()) == MPI_SUCCESS;
  trim(construction, contents);
  return is_read;
}

#else

bool read_construction(MPI_Datatype type, Construction& construction) {
  return read_plain_construction(type, construction);
}

bool read_contents(MPI_Datatype type, const Construction& construction, Contents& contents) {
  make_room(construction, contents);
  const bool is_read = read_plain_contents(type, construction, contents);
  trim(construction, contents);
  return is_read;
}

#endif

bool read_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner) {
  Contents contents;
  if (construction.types != 1 || !read_contents(type, construction, contents)) return false;
  inner = contents.types.front();
  return true;
}

bool is_predefined(const Construction& construction) {
  return construction.combiner == MPI_COMBINER_NAMED || construction.combiner == MPI_COMBINER_F90_INTEGER ||
         construction.combiner == MPI_COMBINER_F90_REAL || construction.combiner == MPI_COMBINER_F90_COMPLEX;
}

}  // namespace hocket::interposer
