// SPDX-License-Identifier: BSD-3-Clause
// `hocket bench` on the ranks of an MPI: the MPI's own collectives, hocket in their place, and hocket's algorithms one
// by one, through the C API over the same MPI.
//
// Thread safety: one thread of each rank.
#pragma once

#include "bench/mpi/ranks.h"
#include "words/grid.h"

namespace hocket::command {

// The exit code; collective. `grid`: of collectives among neighbours.
int bench_on_mpi(bench::MpiRanks& ranks, bench::Options options, const GridWords& grid);

}  // namespace hocket::command
