// SPDX-License-Identifier: BSD-3-Clause
// Which MPI the ranks of a command line will load.
//
// Thread safety: as mpi_library.h.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "mpi_launch/mpi_library.h"

namespace hocket::command {

// `command`: a launcher, its options, a program. `family`: "auto", or the binary interface by name, which is believed.
// An error where nothing on the line tells, or where launcher and program belong to different MPIs.
Result<Mpi> mpi_of_command(const std::string& family, const std::vector<std::string>& command);

}  // namespace hocket::command
