// SPDX-License-Identifier: BSD-3-Clause
// The binary interface of Open MPI 4 and 5: handles are pointers to objects in libmpi. Their addresses are looked up at
// run time; a reference in the code would be a relocation that can't be met where libmpi was loaded with local scope,
// as Python does.
//
// Thread safety: pure functions.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>

#include "core/mpi_settings.h"

// No MPI_Bcast_c and the like: mpi4py would call ours if they were there, with nothing behind them.
#define HOCKET_HAS_COUNT_FUNCTIONS 0

namespace hocket::interposer {

// Of Open MPI 5, and not in the mpi.h of Open MPI 4, whose programs this library serves as well.
#if OMPI_MAJOR_VERSION >= 5
using Session = MPI_Session;
#else
using Session = struct ompi_instance_t*;
#endif

inline constexpr const char* kShim = "libhocket-mpi-openmpi.so";
inline constexpr const char* kLibraries[] = {"libmpi.so.40"};

// MPIs that may be underneath.
inline constexpr MpiFamily kFamilies[] = {MpiFamily::kOpenMpi};

// Waits in the MPI keep their cores, whatever wants these: Open MPI's yield where ranks share cores.
inline constexpr bool spins() { return false; }

// Sums, minima, logical operations and the like of MPI_BYTE, which the standard doesn't define.
inline constexpr bool computes_with_bytes() { return true; }

// Same buffer for input and output: works as MPI_IN_PLACE, and programs rely on it.
inline constexpr bool same_buffer_is_refused() { return false; }
// 8- and 16-bit sums saturate in whole vectors and wrap around in what is left: only its own code does it alike.
inline constexpr bool short_sums_saturate() { return true; }

// Of one rank: whether what moves nothing is over as soon as it begins, and what has gaps on both sides goes from one
// to the other without being packed.
inline constexpr bool is_quick_alone() { return true; }

// HOCKET_TAKEOVER_CALLS. A takeover takes 13 us, and two ranks gain hardly anything by it
// (bench/results/one-machine/young-communicators.md).
inline constexpr int usual_takeover_calls() { return 256; }

// Handles tell nothing.
inline size_t size_in_handle(MPI_Datatype) { return 0; }

// All its predefined operations are in our table.
inline bool is_builtin_operation(MPI_Op) { return false; }

}  // namespace hocket::interposer
