// SPDX-License-Identifier: BSD-3-Clause
#include "flaws.h"

#include <cstring>

namespace conformance {
namespace {

[[maybe_unused]] int64_t bytes_of_block(const Case& which) {
  int64_t sum = 0;
  for (const Element* element : which.family) sum += static_cast<int64_t>(element->size);
  return sum * which.sequences;
}

#ifdef MPICH
bool is_own_operation_on_derived_type(const Case& which) {
  return which.operation != nullptr && !which.operation->is_predefined() && which.shape != Shape::kPlain;
}

// A sequence whose packed elements don't all have the same size, or that MPI packs closer than a compiler does.
bool is_record(const Case& which) {
  for (const Element* element : which.family) {
    if (element->size != which.family[0]->size || element->element_class == Class::kPair) return true;
  }
  return false;
}

bool is_mpich_dangerous(const Case& which, const Communicator& communicator) {
  // Both release memory that they moved by a lower bound, and read beyond the operands.
  const bool has_large_operation = which.operation != nullptr && std::strstr(which.operation->name, "large") != nullptr;
  if (is_own_operation_on_derived_type(which) && has_large_operation) return true;
  const bool is_old = MPICH_NUMVERSION < 50000000;
  switch (which.collective) {
    case Collective::kReduce:
      if (is_own_operation_on_derived_type(which)) return true;
      // Reads from MPI_IN_PLACE where the root is not rank 0 and the message is long.
      return is_old && which.is_in_place && which.root % static_cast<uint64_t>(communicator.size) != 0 &&
             bytes_of_block(which) > 2000;
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock:
      return is_own_operation_on_derived_type(which);
    case Collective::kAllgatherv:
      // Takes no notice of the displacement on one rank, and so writes where there is nothing.
      return is_old && communicator.size == 1;
    case Collective::kScatter:
      // Truncated messages.
      return is_old && is_record(which);
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
      return is_old && which.is_in_place;
    case Collective::kBcast:
      return is_old && which.is_mixed && bytes_of_block(which) > 2000;
    default:
      return false;
  }
}
#endif

#ifdef OPEN_MPI
// Versions 4 and 5 on one rank multiply displacements by an extent, or read from MPI_IN_PLACE.
bool is_open_mpi_dangerous(const Case& which, const Communicator& communicator) {
  return communicator.size == 1 &&
         (which.collective == Collective::kAlltoallw || which.collective == Collective::kExscan);
}
#endif

}  // namespace

bool is_host_dangerous(const Case& which, const Communicator& communicator) {
  // MPIs decide and cut by counts, though ranks may count in types of different sizes: truncated messages, wrong
  // results and hangs in all four. Messages between two ranks fare better.
  switch (which.collective) {
    case Collective::kAllgather:
    case Collective::kAllgatherv:
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
      if (which.is_mixed) return true;
      break;
    default:
      break;
  }
#ifdef MPICH
  return is_mpich_dangerous(which, communicator);
#elif defined(OPEN_MPI)
  return is_open_mpi_dangerous(which, communicator);
#else
  return false;
#endif
}

bool must_types_be_few() {
#ifdef MPICH
  // With some hundreds of them, MPI_Pack of 4.0.2 sometimes leaves out the last bytes.
  return MPICH_NUMVERSION < 50000000;
#else
  return false;
#endif
}

bool is_host_wrong(const Case& which) {
  if (which.operation == nullptr || which.operation->values != Values::kOrder) return false;
  const Element& element = *which.family[0];
#ifdef OPEN_MPI
  // MPI_OFFSET has no sign in versions 4 and 5, MPI_UNSIGNED_LONG has one in version 4.
  if (std::strcmp(element.name, "OFFSET") == 0) return true;
  return OMPI_MAJOR_VERSION < 5 && std::strcmp(element.name, "UNSIGNED_LONG") == 0;
#elif defined(MPICH)
  // All integers have a sign in 4.0.2.
  return MPICH_NUMVERSION < 50000000 && element.name[0] == 'U';
#else
  return element.name[0] == 0;
#endif
}

}  // namespace conformance
