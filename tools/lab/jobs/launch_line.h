// SPDX-License-Identifier: BSD-3-Clause
// The command line by which an MPI's launcher starts ranks on the nodes of a lab, with the settings that serve that MPI
// best there: TCP between nodes, shared memory within one, and yielding where ranks outnumber the machine's cores.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hocket::lab {

enum class MpiKind { kMpich, kIntel, kOpenMpi4, kOpenMpi5 };
enum class Mapping { kBlock, kCyclic };

struct Launch {
  MpiKind kind = MpiKind::kMpich;
  std::string launcher;  // path
  std::string agent;     // in place of ssh
  int nodes = 1;
  int ranks = 1;
  int ranks_per_node = 1;
  Mapping mapping = Mapping::kBlock;
  bool has_more_ranks_than_cores = false;
  std::vector<std::pair<std::string, std::string>> variables;  // for the ranks, besides the MPI's own
  std::vector<std::string> launcher_options;                   // the user's, last, so that they win
  std::vector<std::string> program;
};

std::vector<std::string> launch_line(const Launch& launch);

// How many ranks, and how many of them a node. 0: not said.
struct Placement {
  int ranks = 0;
  int ranks_per_node = 0;
};
// An error where they don't fit.
Result<Placement> place(const Placement& asked, int nodes, int usual_ranks_per_node);

}  // namespace hocket::lab
