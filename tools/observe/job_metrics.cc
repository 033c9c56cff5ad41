// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_metrics.h"

#include <unistd.h>

#include <algorithm>

namespace hocket::observe {
namespace {

constexpr const char* kFile = "hocket.prom";
constexpr size_t kMostJobs = 100;

}  // namespace

MetricsFile::~MetricsFile() {
  if (is_written_) unlink((folder_ + "/" + kFile).c_str());
}

Status MetricsFile::write(const std::vector<JobView>& jobs) {
  if (folder_.empty()) return Status::ok();
  std::vector<const JobView*> latest;
  for (const JobView& job : jobs) latest.push_back(&job);
  std::sort(latest.begin(), latest.end(),
            [](const JobView* one, const JobView* other) { return one->late_s() > other->late_s(); });
  std::vector<platform::JobMetrics> metrics;
  for (const JobView* job : latest) {
    const std::string own = folder_ + "/" + platform::metrics_file_of(job->metrics.job, job->user);
    if (metrics.size() < kMostJobs && access(own.c_str(), F_OK) != 0) metrics.push_back(job->metrics);
  }
  const std::string comment = "written by `hocket top --metrics`, process " + std::to_string(getpid());
  Result<bool> written =
      platform::write_metrics(folder_, kFile, [&] { return platform::metrics_text(metrics, comment); });
  if (!written.is_ok()) return written.take_status();
  is_written_ |= written.value();
  return Status::ok();
}

}  // namespace hocket::observe
