// SPDX-License-Identifier: BSD-3-Clause
// Calls of an MPI's collectives, or of hocket's by the same functions.
//
// Thread safety: one thread, the MPI's.
#pragma once

#include <memory>

#include "bench/lab/driver.h"
#include "bench/mpi/ranks.h"

namespace hocket::lab_bench {

// `ranks` outlive it. `hocket`: its library is preloaded and shall carry out what it can.
std::unique_ptr<Driver> make_mpi_driver(bench::MpiRanks& ranks, const Task& task, bool hocket);

}  // namespace hocket::lab_bench
