// SPDX-License-Identifier: BSD-3-Clause
// The MPI underneath: its functions, found at run time. Nothing here is linked against an MPI.
//
// Looked for behind this library in the search order first (so that other tools stay in the chain), then in the MPI
// library itself if it was loaded out of sight (Python modules load it with local scope).
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>

#include "native.h"

namespace hocket::interposer {

#if HOCKET_HAS_COUNT_FUNCTIONS
// Of MPI 4.0 and 4.1, and not in every mpi.h.
using PartArrived = int (*)(MPI_Request request, int partition, int* flag);
using GetStatusAll = int (*)(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
using GetStatusAny = int (*)(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status);
using GetStatusSome = int (*)(int count, const MPI_Request* requests, int* completed, int* indices,
                              MPI_Status* statuses);
#endif

using SessionInit = int (*)(MPI_Info info, MPI_Errhandler handler, Session* session);
using SessionFinalize = int (*)(Session* session);
using CreateFromGroup = int (*)(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                                MPI_Comm* made);
using GroupFromPset = int (*)(Session session, const char* pset, MPI_Group* group);

#define HOCKET_MPI_POINTER(name) decltype(&PMPI_##name) name = nullptr;
// Caught by this library: called through the name under which they came in.
struct CaughtFunctions {
#define HOCKET_MPI_BARRIER(constant, function) HOCKET_MPI_POINTER(function)
#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_MPI_COLLECTIVE(constant, function) HOCKET_MPI_POINTER(function) HOCKET_MPI_POINTER(function##_c)
#else
#define HOCKET_MPI_COLLECTIVE(constant, function) HOCKET_MPI_POINTER(function)
#endif
#include "base/collectives.def"
#define HOCKET_UNPACKED(...) __VA_ARGS__
#define HOCKET_COUNT int
#define HOCKET_DISPLACEMENT int
  int (*Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request* request) = nullptr;
#define HOCKET_COLLECTIVE(name, started, parameters, ...) \
  int (*name##_init)(HOCKET_UNPACKED parameters, MPI_Info info, MPI_Request * request) = nullptr;
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#define HOCKET_COLLECTIVE(name, started, parameters, ...)                      \
  int(*name) parameters = nullptr;                                             \
  int (*started)(HOCKET_UNPACKED parameters, MPI_Request * request) = nullptr; \
  int (*name##_init)(HOCKET_UNPACKED parameters, MPI_Info info, MPI_Request * request) = nullptr;
#include "shim/underneath/neighbours.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT
#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_COUNT MPI_Count
#define HOCKET_DISPLACEMENT MPI_Aint
#define HOCKET_COLLECTIVE(name, started, parameters, ...) \
  int (*name##_init_c)(HOCKET_UNPACKED parameters, MPI_Info info, MPI_Request * request) = nullptr;
#include "shim/underneath/collectives.def"
#undef HOCKET_COLLECTIVE
#define HOCKET_COLLECTIVE(name, started, parameters, ...)                          \
  int(*name##_c) parameters = nullptr;                                             \
  int (*started##_c)(HOCKET_UNPACKED parameters, MPI_Request * request) = nullptr; \
  int (*name##_init_c)(HOCKET_UNPACKED parameters, MPI_Info info, MPI_Request * request) = nullptr;
#include "shim/underneath/neighbours.def"
#undef HOCKET_COLLECTIVE
#undef HOCKET_DISPLACEMENT
#undef HOCKET_COUNT
#endif
#define HOCKET_MPI_CAUGHT(function) HOCKET_MPI_POINTER(function)
#define HOCKET_MPI_CAUGHT_OPTIONAL(function) HOCKET_MPI_POINTER(function)
#define HOCKET_MPI_CAUGHT_COUNT(function) HOCKET_MPI_POINTER(function)
#define HOCKET_MPI_CAUGHT_NEW(type, function) type function = nullptr;
#define HOCKET_MPI_CAUGHT_SESSION(type, function) type function = nullptr;
#include "shim/underneath/functions.def"
};
// Numbers these functions, for records.
#define HOCKET_FUNCTION(name) (offsetof(hocket::interposer::CaughtFunctions, name) / sizeof(void*))
// What they are called, by number: `take(number, "MPI_Recv")`.
void name_caught(void (*take)(size_t number, const char* name));

// Of fault tolerance; nullptr where the MPI has none.
using IsRevoked = int (*)(MPI_Comm comm, int* flag);

struct MpiFunctions : CaughtFunctions {
  IsRevoked Comm_is_revoked = nullptr;
#define HOCKET_MPI_USED(function) HOCKET_MPI_POINTER(function)
#define HOCKET_MPI_USED_COUNT(function) HOCKET_MPI_POINTER(function)
#define HOCKET_MPI_USED_SESSION(type, function) type function = nullptr;
#include "shim/underneath/functions.def"
};
#undef HOCKET_MPI_POINTER

namespace internal {
extern std::atomic<bool> found;
extern CaughtFunctions mpi_functions;
extern MpiFunctions pmpi_functions;
void find_mpi();  // ends the process with a message if there is no MPI, or one that this shim doesn't fit
}  // namespace internal

// Acquire, with the release in find_mpi(): a thread that sees `found` sees the pointers.
inline const CaughtFunctions& next_mpi() {
  if (!internal::found.load(std::memory_order_acquire)) [[unlikely]]
    internal::find_mpi();
  return internal::mpi_functions;
}
inline const MpiFunctions& next_pmpi() {
  if (!internal::found.load(std::memory_order_acquire)) [[unlikely]]
    internal::find_mpi();
  return internal::pmpi_functions;
}
// Where the MPI has been found, as in all calls that come while its progress calls our hook: they look at nothing else.
inline const CaughtFunctions& found_mpi() { return internal::mpi_functions; }
inline const MpiFunctions& found_pmpi() { return internal::pmpi_functions; }

// A data object of the MPI; nullptr if it has none of that name.
void* find_object(const char* name);

}  // namespace hocket::interposer
