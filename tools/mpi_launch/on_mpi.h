// SPDX-License-Identifier: BSD-3-Clause
// Commands that work on the ranks of an MPI: `hocket bench`, `probe` and `tune`. The command starts itself anew: under
// the launcher; as a rank, with the MPI's library (and hocket's) preloaded; and then loads the module that was compiled
// for that MPI.
//
// Thread safety: for processes with one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/mpi/ranks.h"

namespace hocket::command {

struct OnMpi {
  const char* command = "";                // for messages: "bench"
  std::vector<std::string> launcher;       // what stood behind "--"; empty: the ranks run already
  std::vector<std::string> own_arguments;  // with which the command starts itself anew
  std::string inside;                      // --inside-mpi: the MPI's library; the last of the three starts
  bool with_hocket = true;                 // hocket's library is preloaded, too
  bool bind = false;
  int load = 0;  // processes on each node that burn time
};

// Whether the command line has ranks of an MPI to work on: a launcher, or it is run by one.
bool is_on_mpi(const OnMpi& job);
// Becomes the launcher, or a rank, or runs `body` with the ranks; the exit code. A rank whose peers may wait for it may
// not return from `body`: it aborts the job.
int run_on_mpi(const OnMpi& job, const std::function<int(bench::MpiRanks&)>& body);

}  // namespace hocket::command
