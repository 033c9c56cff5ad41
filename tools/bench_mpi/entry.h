// SPDX-License-Identifier: BSD-3-Clause
// How the command calls the part of the benchmark that is compiled once for each MPI.
#pragma once

#include "bench/bench.h"

namespace hocket::bench {

// Initialises the MPI, measures, finalises; returns the exit code.
using MpiEntry = int (*)(const Options* options);
inline constexpr const char* kMpiEntryName = "hocket_bench_mpi";

}  // namespace hocket::bench
