// SPDX-License-Identifier: BSD-3-Clause
// The binary interface of the MPICH family (MPICH, Intel MPI and others): handles are integers with values that the
// family has agreed on, so a shim may have them built in.
//
// Thread safety: pure functions.
#pragma once

#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>

#include "core/mpi_settings.h"

// Functions with MPI_Count, such as MPI_Bcast_c, exist in this interface.
#define HOCKET_HAS_COUNT_FUNCTIONS 1

namespace hocket::interposer {

using Session = MPI_Session;

inline constexpr const char* kShim = "libhocket-mpi-mpich.so";
// Where the library may lie when it was loaded out of sight of RTLD_NEXT.
inline constexpr const char* kLibraries[] = {"libmpi.so.12", "libmpich.so.12"};

// MPIs that may be underneath.
inline constexpr MpiFamily kFamilies[] = {MpiFamily::kMpich, MpiFamily::kIntel};

// Waits in the MPI keep their cores, whatever wants these: Open MPI's yield where ranks share cores.
inline constexpr bool spins() { return true; }

// Sums, minima, logical operations and the like of MPI_BYTE, which the standard doesn't define.
inline constexpr bool computes_with_bytes() { return false; }

// Same buffer for input and output: the MPI refuses it.
inline constexpr bool same_buffer_is_refused() { return true; }
// 8- and 16-bit sums wrap around, as hocket's do.
inline constexpr bool short_sums_saturate() { return false; }

// Of one rank: whether what moves nothing is over as soon as it begins, and what has gaps on both sides goes from one
// to the other without being packed.
inline constexpr bool is_quick_alone() { return false; }

// HOCKET_TAKEOVER_CALLS. A takeover takes 13 us, which MPICH 5's calls make up for within ten, MPICH 4's within sixty
// (bench/results/one-machine/young-communicators.md).
inline constexpr int usual_takeover_calls() { return 32; }

// The size of a predefined type without gaps, which its handle tells; 0 for others. Asking the MPI would be fatal for a
// type that this version doesn't have.
inline size_t size_in_handle(MPI_Datatype type) {
  const auto bits = static_cast<unsigned>(type);
  return (bits & 0xff000000u) == 0x4c000000u ? (bits >> 8) & 0xffu : 0;
}

// Operations that the MPI has built in, known to us or not.
inline bool is_builtin_operation(MPI_Op op) { return (static_cast<unsigned>(op) & 0xff000000u) == 0x58000000u; }

}  // namespace hocket::interposer
