// SPDX-License-Identifier: BSD-3-Clause
// `hocket bench` on the ranks of an MPI. The command itself is linked with none: each rank starts the command anew
// with that MPI's library and hocket's shim preloaded, and loads the part of the benchmark compiled for that MPI.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.h"

namespace hocket::command {

// `hocket bench ... -- mpiexec -n 4`: becomes the launcher of itself. Returns only when that fails.
int bench_with_launcher(const std::vector<std::string>& launcher, const std::vector<std::string>& own_arguments);

// A rank just started: becomes itself with the libraries preloaded. Returns only when that fails.
int bench_as_mpi_rank(bool bind, int load, const std::vector<std::string>& own_arguments);

// That new self. `library`: the MPI's, by path.
int bench_inside_mpi(const std::string& library, const bench::Options& options);

}  // namespace hocket::command
