// SPDX-License-Identifier: BSD-3-Clause
// The standard binary interface of MPI 5 (libmpi_abi): handles are pointers with values that the standard has fixed.
// Which MPI is behind it (MPICH, Intel MPI, Open MPI) is known at run time only, and with it what the standard leaves
// to each.
//
// Thread safety: any thread; handler_that_returns() between MPI_Init and MPI_Finalize.
#pragma once

#include <mpi_abi.h>

#include <cstddef>
#include <cstdint>

#include "core/mpi_settings.h"

// Functions with MPI_Count, such as MPI_Bcast_c, exist in this interface.
#define HOCKET_HAS_COUNT_FUNCTIONS 1

namespace hocket::interposer {

using Session = MPI_Session;

inline constexpr const char* kShim = "libhocket-mpi-abi.so";
// Where the library may lie when it was loaded out of sight of RTLD_NEXT.
inline constexpr const char* kLibraries[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"};

// MPIs that may be underneath.
inline constexpr MpiFamily kFamilies[] = {MpiFamily::kMpich, MpiFamily::kIntel, MpiFamily::kOpenMpi};

// Waits in the MPI keep their cores, whatever wants these: Open MPI's yield where ranks share cores.
bool spins();

// Sums, minima, logical operations and the like of MPI_BYTE, which the standard doesn't define.
inline constexpr bool computes_with_bytes() { return false; }

// Same buffer for input and output: MPICH and its relatives refuse it, others may take it for MPI_IN_PLACE.
bool same_buffer_is_refused();
// 8- and 16-bit sums wrap around in MPICH and its relatives, as hocket's do. What others do only their own code knows.
bool short_sums_saturate();

// Of one rank: whether what moves nothing is over as soon as it begins, and what has gaps on both sides goes from one
// to the other without being packed.
bool is_quick_alone();

// HOCKET_TAKEOVER_CALLS, as the shims of these MPIs have it; Intel MPI's calls are as quick as Open MPI's.
int usual_takeover_calls();

// MPI_ERRORS_RETURN, or one like it: Intel MPI ends the job on the former. Between MPI_Init and MPI_Finalize.
MPI_Errhandler handler_that_returns();

// Predefined handles lie below this, all others above.
inline constexpr uintptr_t kEndOfPredefined = 0x1000;

// Handles of some types tell the size, but not whether the MPI has them: it is asked for all.
inline size_t size_in_handle(MPI_Datatype) { return 0; }

// Operations that the MPI has built in, known to us or not.
inline bool is_builtin_operation(MPI_Op op) { return reinterpret_cast<uintptr_t>(op) < kEndOfPredefined; }

}  // namespace hocket::interposer
