// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/job_processes.h"

#include <utility>

namespace hocket::platform {

std::vector<SeenRecord> JobProcesses::records(std::string_view job) {
  std::vector<SeenRecord> found;
  for (const int process : known_)
    for (SeenRecord& one : records_of(process))
      if (one.job() == job) found.push_back(std::move(one));
  if (found.empty()) return look_anew(job);
  return found;
}

std::vector<SeenRecord> JobProcesses::look_anew(std::string_view job) {
  std::vector<SeenRecord> found = all_records(job);
  known_.clear();
  for (const SeenRecord& one : found) known_.push_back(one.process());
  return found;
}

}  // namespace hocket::platform
