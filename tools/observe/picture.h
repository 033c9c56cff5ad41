// SPDX-License-Identifier: BSD-3-Clause
// Several jobs as the lines of one screen.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "observe/job_view.h"
#include "observe/table.h"

namespace hocket::observe {

// How many lines each gets of those that there are: what it wants, and where that is too much, what the small ones
// leave in equal shares.
std::vector<size_t> share_lines(const std::vector<size_t>& wanted, size_t available);

// `options.lines`: of all together. The job with the latest rank comes first; jobs that don't fit are counted.
std::vector<std::string> picture_of(std::vector<JobView> jobs, const TableOptions& options);

}  // namespace hocket::observe
