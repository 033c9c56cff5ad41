// SPDX-License-Identifier: BSD-3-Clause
// The same measurement of an MPI's own collective, or of hocket's under that MPI, on the nodes of a lab: its launcher
// starts the ranks, one a node or several, node by node.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "bench/lab/run.h"

namespace hocket::lab_bench {

// The hidden command that ranks are: `hocket lab bench-rank --board FILE [--with-hocket] [--setting NAME=VALUE ...]`.
inline constexpr const char* kRankCommand = "bench-rank";

struct MpiJob {
  std::string mpi;  // as of `hocket lab mpirun --mpi`
  bool has_hocket = false;
  std::vector<std::string> settings;  // of hocket's: "NAME=VALUE"
  int ranks_per_node = 1;
};
Result<Measured> measure_mpi(const lab::Lab& lab, const MpiJob& job, const Task& task);

// Of a rank 0 there: the lab's traffic, by its parent, which sees all nodes.
Result<Traffic> ask_for_traffic(Board& board);

}  // namespace hocket::lab_bench
