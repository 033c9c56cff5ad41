// SPDX-License-Identifier: BSD-3-Clause
// From what people call an MPI to its launcher.
//
// Thread safety: for processes with one thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lab/jobs/launch_line.h"

namespace hocket::command {

struct LabMpi {
  lab::MpiKind kind = lab::MpiKind::kMpich;
  std::string launcher;                                        // path
  std::vector<std::pair<std::string, std::string>> variables;  // that its ranks need to find its libraries
};

// `word`: mpich, openmpi, intel, debian-mpich, debian-openmpi, the path or name of a launcher, or "auto": the first
// launcher on PATH that fits the program. Errors say what was looked for.
Result<LabMpi> find_lab_mpi(const std::string& word, const std::vector<std::string>& program);

}  // namespace hocket::command
