// SPDX-License-Identifier: BSD-3-Clause
#include "flaws.h"

#include <mpi.h>

#include <cstdlib>
#include <cstring>

namespace conformance {
namespace {

enum class Maker { kOther, kMpich, kOpenMpi, kIntel };

struct Host {
  Maker maker = Maker::kOther;
  int version = 0;
};

// Asked for when running, as one program by the standard binary interface runs on several.
Host ask_for_host() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  static const struct {
    Maker maker;
    const char* name;
  } names[] = {{Maker::kIntel, "Intel"}, {Maker::kOpenMpi, "Open MPI"}, {Maker::kMpich, "MPICH"}};
  for (const auto& known : names) {
    const char* at = std::strstr(text, known.name);
    if (at != nullptr) return {known.maker, std::atoi(at + std::strcspn(at, "0123456789"))};
  }
  return {};
}

const Host& host() {
  static const Host asked = ask_for_host();
  return asked;
}

int64_t bytes_of_block(const Case& which) {
  int64_t sum = 0;
  for (const Element* element : which.family) sum += static_cast<int64_t>(element->size);
  return sum * which.sequences;
}

bool is_own_operation_on_derived_type(const Case& which) {
  return which.operation != nullptr && !which.operation->is_predefined() && which.shape != Shape::kPlain;
}

// A sequence whose packed elements don't all have the same size, or are packed closer than a compiler lays them out.
bool is_record(const Case& which) {
  for (const Element* element : which.family) {
    const bool has_padding =
        element->element_class == Class::kPair || std::strstr(element->name, "LONG_DOUBLE") != nullptr;
    if (has_padding || element->size != which.family[0]->size) return true;
  }
  return false;
}

bool is_mpich_dangerous(const Case& which, const Communicator& communicator) {
  // Both release memory that they moved by a lower bound, and read beyond the operands.
  const bool has_large_operation = which.operation != nullptr && std::strstr(which.operation->name, "large") != nullptr;
  if (is_own_operation_on_derived_type(which) && has_large_operation) return true;
  const bool is_old = host().version < 5;
  switch (which.collective) {
    case Collective::kReduce:
      if (is_own_operation_on_derived_type(which)) return true;
      // Reads from MPI_IN_PLACE where the root is not rank 0 and the message is long.
      return is_old && which.is_in_place && which.root % static_cast<uint64_t>(communicator.size) != 0 &&
             bytes_of_block(which) > 2000;
    case Collective::kReduceScatter:
      // Copies a block onto another that it overlaps.
      return is_own_operation_on_derived_type(which) || (which.is_in_place && bytes_of_block(which) > 2000);
    case Collective::kReduceScatterBlock:
      return is_own_operation_on_derived_type(which);
    case Collective::kAllgatherv:
      // Takes no notice of the displacement on one rank, and so writes where there is nothing.
      return is_old && communicator.size == 1;
    case Collective::kGather:
      // Truncated messages, or an invalid data type, on more than three ranks.
      return is_record(which);
    case Collective::kScatter:
      return is_old && is_record(which);
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
      return is_old && (which.is_in_place || which.is_mixed);
    case Collective::kBcast:
      return is_old && which.is_mixed && bytes_of_block(which) > 2000;
    default:
      return false;
  }
}
bool is_open_mpi_dangerous(const Case& which, const Communicator& communicator) {
  // Versions 4 and 5 crash where the data of a long operand begin elsewhere than at its address.
  if (is_own_operation_on_derived_type(which) && bytes_of_block(which) > 4000) return true;
  switch (which.collective) {
    case Collective::kAlltoallw:
      // Version 4 unpacks more than there is of parts of long elements.
      if (which.is_mixed && host().version < 5 && bytes_of_block(which) > 4000) return true;
      [[fallthrough]];
    case Collective::kExscan:
      // Versions 4 and 5 on one rank multiply displacements by an extent, or read from MPI_IN_PLACE.
      return communicator.size == 1;
    case Collective::kGather:
    case Collective::kScatterv:
      // A rank cuts and stores by its own type where others count in another.
      return which.is_mixed;
    default:
      return false;
  }
}

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
  switch (host().maker) {
    case Maker::kMpich:
      return is_mpich_dangerous(which, communicator);
    case Maker::kOpenMpi:
      return is_open_mpi_dangerous(which, communicator);
    case Maker::kIntel:
      // As MPICH, from which it stems; and it crashes where types have bounds other than 0.
      return is_own_operation_on_derived_type(which) ||
             (which.collective == Collective::kGather && which.shape != Shape::kPlain);
    default:
      return false;
  }
}

bool is_host_dangerous_to_others(const Case& which, const Communicator& communicator) {
  const bool is_derived = which.shape != Shape::kPlain || which.is_mixed || which.family.size() != 1;
  return is_host_dangerous(which, communicator) || (host().maker == Maker::kIntel && is_derived);
}

bool spare_host(Case& which) {
  const bool is_old = host().maker == Maker::kIntel || (host().maker == Maker::kMpich && host().version < 5);
  // MPICH 4.0.2 and Intel MPI copy the root's own block when MPI_Gather_init is called, and free types once too often.
  if (which.form == Form::kPersistent && is_old) return false;
  // Open MPI 5 crashes in started calls whose types have been freed.
  which.frees_types = false;
  // Open MPI 4 waits for ever in MPI_Ialltoallw in place where some pairs of ranks have nothing for each other.
  const bool is_exchange_in_place = which.collective == Collective::kAlltoallw && which.is_in_place;
  // Open MPI frees what it has not allocated where an own operation's operands begin elsewhere than at their address.
  const bool is_wrongly_freed = is_own_operation_on_derived_type(which);
  if (host().maker == Maker::kOpenMpi && (is_exchange_in_place || is_wrongly_freed)) return false;
  // MPI_Testall and MPI_Waitall of MPICH say of a persistent collective that it is an invalid request.
  const bool ends_all = which.end == End::kTestall || which.end == End::kWaitall;
  if (which.form == Form::kPersistent && ends_all && host().maker == Maker::kMpich) which.end = End::kWait;
  return true;
}

bool spare_host_among_others(Case& which) {
  // MPICH's end several requests that way, and errors of one are those of all.
  if (which.form == Form::kPersistent && host().maker != Maker::kOpenMpi) return false;
  // A rank without data in it tells the next call of that communicator apart otherwise than ranks with data do.
  const bool is_exchange = which.collective == Collective::kAlltoallv || which.collective == Collective::kAlltoallw;
  if (host().maker == Maker::kOpenMpi && is_exchange && which.is_in_place) return false;
  // The MPIs' own cut by counts there where their blocking ones don't, too, and move operands by lower bounds.
  if (which.is_mixed || is_own_operation_on_derived_type(which)) return false;
  return spare_host(which);
}

bool is_operation_the_hosts(const Case& which) {
  const Element& element = *which.family[0];
  if (element.element_class == Class::kFortranLogical) return true;
  // Open MPI's sums of short integers saturate on some processors.
  const bool is_integer = element.element_class == Class::kInteger || element.element_class == Class::kFortranInteger;
  return host().maker == Maker::kOpenMpi && which.operation->op == MPI_SUM && is_integer && element.size <= 2;
}

bool leaves_persistent_of_one_rank(const Case& which) {
  // Where it is right, that is.
  return host().maker == Maker::kOpenMpi && which.collective != Collective::kAlltoallw &&
         which.collective != Collective::kExscan;
}

// With some hundreds of them, MPI_Pack of MPICH 4.0.2 sometimes leaves out the last bytes.
bool must_types_be_few() { return host().maker == Maker::kMpich && host().version < 5; }

bool is_host_wrong(const Case& which) {
  if (which.operation == nullptr || which.operation->values != Values::kOrder) return false;
  const char* name = which.family[0]->name;
  // MPI_OFFSET has no sign in Open MPI 4 and 5, MPI_UNSIGNED_LONG has one in version 4.
  if (host().maker == Maker::kOpenMpi) {
    return std::strcmp(name, "OFFSET") == 0 || (host().version < 5 && std::strcmp(name, "UNSIGNED_LONG") == 0);
  }
  // All integers have a sign in MPICH 4.0.2.
  return host().maker == Maker::kMpich && host().version < 5 && name[0] == 'U';
}

}  // namespace conformance
