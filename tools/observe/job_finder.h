// SPDX-License-Identifier: BSD-3-Clause
// Whose records are meant by what people type: any process of a job, its launcher, or the job's name.
//
// Errors name the process, and the remedy.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "observe/job_view.h"
#include "platform/whereabouts/observer.h"

namespace hocket::observe {

// Of the job that the process belongs to; of one that keeps no record, of those that it has started.
Result<std::vector<platform::SeenRecord>> records_near(int process);

// `word`: the name of a job, the number of a process, or the beginning of a name; "": all jobs that this process may
// look at, which may be none.
Result<std::vector<platform::SeenRecord>> records_for(const std::string& word);

// The same, seen now.
Result<std::vector<JobView>> views_for(const std::string& word);

}  // namespace hocket::observe
