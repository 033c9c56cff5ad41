// SPDX-License-Identifier: BSD-3-Clause
#include "shim/type_construction.h"

#include <vector>

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

bool read_plain_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner) {
  // One more than needed, for data() not to be NULL.
  std::vector<int> integers(construction.integers + 1);
  std::vector<MPI_Aint> addresses(construction.addresses + 1);
  return next_pmpi().Type_get_contents(type, static_cast<int>(construction.integers),
                                       static_cast<int>(construction.addresses), 1, integers.data(), addresses.data(),
                                       &inner) == MPI_SUCCESS;
}

}  // namespace

#if HOCKET_HAS_COUNT_FUNCTIONS

bool read_construction(MPI_Datatype type, Construction& construction) {
  const auto inquire = next_pmpi().Type_get_envelope_c;
  if (inquire == nullptr) return read_plain_construction(type, construction);
  return inquire(type, &construction.integers, &construction.addresses, &construction.counts, &construction.types,
                 &construction.combiner) == MPI_SUCCESS;
}

bool read_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner) {
  if (construction.types != 1) return false;
  if (construction.counts == 0) return read_plain_inner_type(type, construction, inner);
  std::vector<int> integers(construction.integers + 1);
  std::vector<MPI_Aint> addresses(construction.addresses + 1);
  std::vector<MPI_Count> counts(construction.counts + 1);
  return next_pmpi().Type_get_contents_c(type, construction.integers, construction.addresses, construction.counts, 1,
                                         integers.data(), addresses.data(), counts.data(), &inner) == MPI_SUCCESS;
}

#else

bool read_construction(MPI_Datatype type, Construction& construction) {
  return read_plain_construction(type, construction);
}

bool read_inner_type(MPI_Datatype type, const Construction& construction, MPI_Datatype& inner) {
  return construction.types == 1 && read_plain_inner_type(type, construction, inner);
}

#endif

}  // namespace hocket::interposer
