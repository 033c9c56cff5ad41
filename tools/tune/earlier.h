// SPDX-License-Identifier: BSD-3-Clause
// What earlier runs of `hocket tune --json -- LAUNCHER` have measured, read again: one table for several MPIs is made
// of runs under each of them.
//
// Thread safety: pure functions, but for the files.
#pragma once

#include <string>
#include <vector>

#include "tune/measure.h"

namespace hocket::command {

// Errors name the file and what is wrong with it.
Result<Survey> read_survey(const std::string& path);

// The cells that were measured under every MPI. Where several runs have measured one, an algorithm's time is the
// geometric mean of theirs, and those that some of them left out are left out. `wobble` is the largest.
Survey together(const std::vector<Survey>& surveys);

}  // namespace hocket::command
