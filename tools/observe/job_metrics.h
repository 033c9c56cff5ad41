// SPDX-License-Identifier: BSD-3-Clause
// Jobs as metrics for Prometheus (platform/whereabouts/metrics.h), in a file that goes with its writer.
//
// Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "observe/job_view.h"

namespace hocket::observe {

class MetricsFile {
 public:
  // `folder`: "": nothing is written.
  explicit MetricsFile(std::string folder) : folder_(std::move(folder)) {}
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Of these jobs, the latest first, as many as a file may hold, but for those that write there themselves: what is in
  // two files at once makes the collector refuse both.
  Status write(const std::vector<JobView>& jobs);

 private:
  std::string folder_;
  bool is_written_ = false;
};

}  // namespace hocket::observe
