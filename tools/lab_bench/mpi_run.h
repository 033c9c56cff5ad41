// SPDX-License-Identifier: BSD-3-Clause
// An MPI's own collective on the nodes of a lab, one rank a node: `hocket bench` under its launcher.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "lab_bench/run.h"

namespace hocket::lab_bench {

// `mpi` as of `hocket lab mpirun --mpi`. The median call is what is known, not the mean, and neither processor time nor
// packets of its calls alone.
Result<Measured> measure_mpi(const lab::Lab& lab, const std::string& mpi, uint32_t ranks, double seconds);

}  // namespace hocket::lab_bench
