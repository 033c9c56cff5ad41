// SPDX-License-Identifier: BSD-3-Clause
// A job's ranks as lines of text, one a rank, with columns that line up, cut to a width and a number of lines.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/job_view.h"

namespace hocket::observe {

struct TableOptions {
  size_t width = 0;        // characters a line; 0: as they need
  size_t lines = 0;        // most of them; 0: all
  bool has_rates = false;  // shares of the time since the view before
  bool has_colours = false;
  double late_after_s = 10;  // from then on a wait is one for a rank that is late
};

// "job ...: prog, 3 of 4 ranks on host, some MPI".
std::string heading_of(const JobView& job);

// A heading, the column's names, the ranks, and below what is wrong with them: deadlocks, and how the stack of the
// one to look at first is seen.
std::vector<std::string> table_of(const JobView& job, const TableOptions& options);

// "0-3, 7", "process 4711", with "and 3 more" behind the first ones.
std::string list_of(const std::vector<std::string>& names, size_t count);
// "12 s", "3.2 s", "5 min", "2 h 10 min".
std::string time_of(double seconds);

}  // namespace hocket::observe
