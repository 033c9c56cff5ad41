// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/job_processes.h"

#include <utility>

namespace hocket::platform {

std::vector<SeenRecord> JobProcesses::records(std::string_view job) {
  std::vector<int> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
  }
  std::vector<SeenRecord> found = records_of_own_job(job, known);
  if (found.empty()) return look_anew(job);
  return found;
}

std::vector<SeenRecord> JobProcesses::look_anew(std::string_view job) {
  std::vector<SeenRecord> found = records_of_own_job(job);
  std::vector<int> known;
  for (const SeenRecord& one : found) known.push_back(one.process());
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  return found;
}

}  // namespace hocket::platform
