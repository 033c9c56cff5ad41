// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_metrics.h"

#include <unistd.h>

#include <algorithm>

namespace hocket::observe {
namespace {

constexpr const char* kFile = "hocket.prom";
constexpr size_t kMostJobs = 100;

}  // namespace

platform::JobMetrics metrics_of(const JobView& job) {
  platform::JobMetrics sum;
  sum.job = job.label;
  sum.program = job.program;
  sum.library = job.library;
  sum.user = job.user;
  for (const RankView& one : job.here) {
    if (one.state == kHasEnded) continue;
    ++sum.ranks;
    if (one.is_in_collective && one.waits_s > 0) {
      ++sum.waiting;
      sum.longest_wait_s = std::max(sum.longest_wait_s, one.waits_s);
    }
    sum.waited_s += one.waited_s;
    sum.late_lines += one.late_lines;
    sum.came_after_all += one.came_after_all;
  }
  return sum;
}

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
    const std::string own = folder_ + "/" + platform::metrics_file_of(job->label, job->user);
    if (metrics.size() < kMostJobs && access(own.c_str(), F_OK) != 0) metrics.push_back(metrics_of(*job));
  }
  const std::string comment = "written by `hocket top --metrics`, process " + std::to_string(getpid());
  Result<bool> written = platform::write_metrics(folder_, kFile, platform::metrics_text(metrics, comment));
  if (!written.is_ok()) return written.take_status();
  is_written_ |= written.value();
  return Status::ok();
}

}  // namespace hocket::observe
