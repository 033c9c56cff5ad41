// SPDX-License-Identifier: BSD-3-Clause
// The MPI underneath: its functions, found at run time. Nothing here is linked against an MPI.
//
// Looked for behind this library in the search order first (so that other tools stay in the chain), then in the MPI
// library itself if it was loaded out of sight (Python modules load it with local scope).
//
// Thread safety: any thread.
#pragma once

#include <atomic>

#include "native.h"

namespace hocket::interposer {

// Caught by this library: called through the name under which they came in.
// clang-format off
#define HOCKET_MPI_COLLECTIVES(X)                                                                              \
  X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv)    \
  X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan)
#define HOCKET_MPI_CAUGHT(X)                                                                                    \
  X(Init) X(Init_thread) X(Finalize) X(Comm_free) X(Comm_disconnect) X(Alloc_mem) X(Free_mem) X(Win_test)       \
  X(Isend) X(Issend) X(Irsend) X(Irecv) X(Imrecv)                                                                \
  X(Win_allocate) X(Win_allocate_shared) X(Win_create) X(Win_create_dynamic) X(Win_free)                         \
  X(Barrier) X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test)    \
  X(Testall) X(Testany) X(Testsome) X(Request_get_status) X(Request_free) HOCKET_MPI_COLLECTIVES(X)
// The same, of what an MPI may be built without.
#define HOCKET_MPI_CAUGHT_FILES(X)                                                           \
  X(File_iread) X(File_iread_all) X(File_iread_at) X(File_iread_at_all) X(File_iread_shared) \
  X(File_iwrite) X(File_iwrite_all) X(File_iwrite_at) X(File_iwrite_at_all) X(File_iwrite_shared)
#if HOCKET_HAS_COUNT_FUNCTIONS
#define HOCKET_MPI_CAUGHT_COUNT(X)                                                                            \
  X(Bcast_c) X(Gather_c) X(Gatherv_c) X(Scatter_c) X(Scatterv_c) X(Allgather_c) X(Allgatherv_c) X(Alltoall_c) \
  X(Alltoallv_c) X(Alltoallw_c) X(Reduce_c) X(Allreduce_c) X(Reduce_scatter_block_c) X(Reduce_scatter_c)      \
  X(Scan_c) X(Exscan_c) X(Ibcast_c) X(Ireduce_c) X(Iallreduce_c) X(Win_allocate_c) X(Win_allocate_shared_c)   \
  X(Win_create_c) X(Isend_c) X(Issend_c) X(Irsend_c) X(Irecv_c) X(Imrecv_c)                                   \
  X(File_iread_c) X(File_iread_all_c) X(File_iread_at_c) X(File_iread_at_all_c) X(File_iread_shared_c)        \
  X(File_iwrite_c) X(File_iwrite_all_c) X(File_iwrite_at_c) X(File_iwrite_at_all_c) X(File_iwrite_shared_c)
#define HOCKET_MPI_USED_COUNT(X) X(Pack_c) X(Type_get_contents_c) X(Type_get_envelope_c) X(Unpack_c)
#else
#define HOCKET_MPI_CAUGHT_COUNT(X)
#define HOCKET_MPI_USED_COUNT(X)
#endif
// Used by this library.
#define HOCKET_MPI_USED(X)                                                                                    \
  X(Abort) X(Cancel) X(Comm_call_errhandler) X(Comm_create_keyval) X(Comm_dup) X(Comm_free_keyval)            \
  X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_group) X(Comm_rank) X(Comm_set_attr) X(Comm_remote_size)     \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_test_inter) X(Errhandler_free) X(Error_class) X(Get_count)       \
  X(Get_library_version) X(Grequest_complete) X(Grequest_start) X(Group_free) X(Group_translate_ranks)        \
  X(Iallgather) X(Info_get) X(Iprobe) X(Op_commutative) X(Pack) X(Pack_size) X(Recv)        \
  X(Reduce_local) X(Sendrecv) X(Status_set_cancelled) X(Status_set_elements) X(Type_commit)                   \
  X(Type_contiguous) X(Type_create_hindexed) X(Type_create_keyval) X(Type_free) X(Type_free_keyval)           \
  X(Type_get_attr) X(Type_get_contents) X(Type_get_envelope) X(Type_get_extent) X(Type_get_true_extent)       \
  X(Type_set_attr) X(Type_size) X(Type_size_x) X(Unpack)
// clang-format on

#if HOCKET_HAS_COUNT_FUNCTIONS
// Of MPI 4.1, and not in every mpi.h.
using GetStatusAll = int (*)(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
using GetStatusAny = int (*)(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status);
using GetStatusSome = int (*)(int count, const MPI_Request* requests, int* completed, int* indices,
                              MPI_Status* statuses);
#endif

#define HOCKET_MPI_POINTER(name) decltype(&PMPI_##name) name = nullptr;
struct CaughtFunctions {
  HOCKET_MPI_CAUGHT(HOCKET_MPI_POINTER)
  HOCKET_MPI_CAUGHT_FILES(HOCKET_MPI_POINTER)
  HOCKET_MPI_CAUGHT_COUNT(HOCKET_MPI_POINTER)  // may be missing in old libraries
#if HOCKET_HAS_COUNT_FUNCTIONS
  GetStatusAll Request_get_status_all = nullptr;  // these, too
  GetStatusAny Request_get_status_any = nullptr;
  GetStatusSome Request_get_status_some = nullptr;
#endif
};
// Of fault tolerance; nullptr where the MPI has none.
using IsRevoked = int (*)(MPI_Comm comm, int* flag);

struct MpiFunctions : CaughtFunctions {
  IsRevoked Comm_is_revoked = nullptr;
  HOCKET_MPI_USED(HOCKET_MPI_POINTER)
  HOCKET_MPI_USED_COUNT(HOCKET_MPI_POINTER)  // may be missing in old libraries
};
#undef HOCKET_MPI_POINTER

namespace internal {
extern std::atomic<bool> found;
extern CaughtFunctions mpi_functions;
extern MpiFunctions pmpi_functions;
void find_mpi();  // ends the process with a message if there is no MPI, or one that this shim doesn't fit
}  // namespace internal

// Acquire, with the release in find_mpi(): who sees `found` sees the pointers.
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

// A data object of the MPI; nullptr if it has none of that name.
void* find_object(const char* name);

}  // namespace hocket::interposer
