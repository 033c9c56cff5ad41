// SPDX-License-Identifier: BSD-3-Clause
// How jobs are doing, for Prometheus: files that the textfile collector of its node exporter reads, by what records say
// (record.h). Names and labels are in docs/late-ranks.md.
//
// Where HOCKET_METRICS names a folder, ranks write a file for their job on this machine, whichever of them waits when
// it is time: no thread is started for it, and a job that is stuck writes on. Each rank that leaves the job takes the
// file away, which others write again; what a killed job has left another job's ranks take away. Where it can't be
// written a line says so once, and the job goes on.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "platform/whereabouts/observer.h"

namespace hocket::platform {

struct JobMetrics {
  std::string job, program, library;
  uint32_t user = 0;
  uint64_t ranks = 0;    // of this machine
  uint64_t waiting = 0;  // of these, for others, for a tenth of a second at least
  double longest_wait_s = 0;
  double waited_s = 0;
  uint64_t late_lines = 0, came_after_all = 0;
};

// Waited in collectives until now by all threads of a record's owner, waits that go on too.
double waited_s(const SeenRecord& record, uint64_t now_ns);
// Of the records of one job, by process.
JobMetrics metrics_of(const std::vector<SeenRecord>& records, uint64_t now_ns);

// In the text format of Prometheus. `comment`: a line above.
std::string metrics_text(const std::vector<JobMetrics>& jobs, const std::string& comment);

// The file appears whole, in place of an earlier one. False where another process is writing it. `text` is asked for
// once that is sure; "": it has become needless.
using TextOf = std::function<std::string()>;
Result<bool> write_metrics(const std::string& folder, const std::string& file, const TextOf& text);

// Of a job, as its records name it, whose ranks write it themselves.
std::string metrics_file_of(std::string_view job, uint32_t user);

// From now on, for this process's job, until as many have ended it. False: `folder` is empty.
bool start_metrics(std::string folder);
void end_metrics();

namespace internal {
// Relaxed: it guards nothing. UINT64_MAX: never; by the coarse clock.
inline std::atomic<uint64_t> metrics_due_ns{UINT64_MAX};
void write_own_metrics();
}  // namespace internal

// Whether this process writes any: a rank that waits then asks, now and then, whether it is time.
inline bool has_metrics() { return internal::metrics_due_ns.load(std::memory_order_relaxed) != UINT64_MAX; }
inline void write_metrics_when_due() {
  if (has_metrics()) [[unlikely]]
    internal::write_own_metrics();
}

}  // namespace hocket::platform
