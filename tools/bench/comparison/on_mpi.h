// SPDX-License-Identifier: BSD-3-Clause
// `hocket bench` on the ranks of an MPI: the MPI's own collectives, hocket in their place, and hocket's algorithms one
// by one, through the C API over the same MPI.
//
// Thread safety: one thread of each rank.
#pragma once

#include "bench/mpi/ranks.h"

namespace hocket::command {

// The exit code; collective.
int bench_on_mpi(bench::MpiRanks& ranks, const bench::Options& options);

}  // namespace hocket::command
