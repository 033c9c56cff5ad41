// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/report.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/file_pattern.h"
#include "base/log.h"
#include "base/whole_write.h"
#include "c_api/internal/timing/call_times.h"
#include "c_api/internal/windows.h"
#include "core/call_times.h"
#include "core/communicator.h"
#include "core/endpoint.h"
#include "core/report/json.h"
#include "core/report/page.h"
#include "shim/job/job.h"
#include "shim/types/operations.h"
#include "shim/types/types.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

using internal::job;

template <size_t N>
std::array<uint64_t, N> sums_of(const std::array<uint64_t, N>& mine, MPI_Datatype type) {
  std::array<uint64_t, N> sums = mine;
  next_pmpi().Reduce(mine.data(), sums.data(), static_cast<int>(N), type, sum_operation(), 0, job.world);
  return sums;
}

std::vector<uint64_t> sums_of(const std::vector<uint64_t>& mine, MPI_Datatype type) {
  std::vector<uint64_t> sums = mine;
  next_pmpi().Reduce(mine.data(), sums.data(), static_cast<int>(mine.size()), type, sum_operation(), 0, job.world);
  return sums;
}

// As an operation of the MPI's: `inputs` and `outputs` hold so many tables each.
void merge_tables(void* inputs, void* outputs, int* count, MPI_Datatype*) {
  try {
    for (int i = 0; i < *count; ++i) {
      SiteTable more, table;
      std::memcpy(&more, static_cast<const SiteTable*>(inputs) + i, sizeof more);
      std::memcpy(&table, static_cast<SiteTable*>(outputs) + i, sizeof table);
      merge(table, more);
      std::memcpy(static_cast<SiteTable*>(outputs) + i, &table, sizeof table);
    }
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
}

// Tables stay as short as they are on the way to rank 0, of however many ranks.
SiteTable merged_table(const SiteTable& mine) {
  SiteTable all;
  MPI_Datatype type;
  if (next_pmpi().Type_contiguous(static_cast<int>(sizeof mine), handles.byte, &type) != MPI_SUCCESS) return all;
  MPI_Op merging;
  if (next_pmpi().Type_commit(&type) == MPI_SUCCESS &&
      next_pmpi().Op_create(merge_tables, 1, &merging) == MPI_SUCCESS) {
    next_pmpi().Reduce(&mine, &all, 1, type, merging, 0, job.world);
    next_pmpi().Op_free(&merging);
  }
  next_pmpi().Type_free(&type);
  return all;
}

// Of a process that owes its user the end of the job. A child that it forks owes nothing.
std::atomic<pid_t> process_that_tells = 0;

// Where the file is to be, from the root; "": on stderr, for a person. Of rank 0. Never freed, as it is known at the
// end of the process, too.
const std::string* statistics_file = nullptr;

std::string file_asked_for() {
  const Result<std::string> text = environment::get_text("HOCKET_STATS");
  if (!text.is_ok() || !environment::names_file(text.value())) return {};
  return whole_path(file_of_pattern(text.value(), name_of_host()));
}

std::string page_of(const JobReport& report) {
  return statistics_text(report.calls, report.ranks) + windows_text(report.windows_in_place, report.windows_copied) +
         times_text(report.times, report.ranks) + page_text(report, style_of(STDERR_FILENO));
}

void tell(JobReport& report) {
  find_lines(report);
  if (statistics_file != nullptr && !statistics_file->empty()) {
    const Status status = write_file(*statistics_file, json_text(report));
    if (status.is_ok()) return;
    HOCKET_LOG_ERROR("%s; what it would have had is told here", status.message());
  }
  // Where no reader is left there is nobody to tell.
  (void)write_whole(STDERR_FILENO, page_of(report));
}

// Behind all functions of atexit(), of which one may call MPI_Finalize.
__attribute__((destructor)) void tell_that_page_is_missing() {
  // Relaxed: one value.
  if (process_that_tells.load(std::memory_order_relaxed) != getpid()) return;
  HOCKET_LOG_WARN("HOCKET_STATS: nothing is told of the job's calls, for rank 0 ends without MPI_Finalize");
}

template <typename Times>
Times in_microseconds(Times times) {
  for (uint64_t& time : times) time /= 1000;
  return times;
}

}  // namespace

void begin_report() try {
  if (job.rank != 0) return;
  process_that_tells.store(getpid(), std::memory_order_relaxed);
  statistics_file = new std::string(file_asked_for());
  if (statistics_file->empty()) return;
  if (const Status status = try_file(*statistics_file); !status.is_ok())
    HOCKET_LOG_WARN(
        "%s; name a file in a folder that is there and that rank 0 may write to, or the end of the job is told on "
        "stderr",
        status.message());
} catch (const std::bad_alloc&) {
  end_without_memory();
}

void report_job() try {
  process_that_tells.store(0, std::memory_order_relaxed);
  c_api::time_calls(false);
  const MPI_Datatype type = uint64_type();
  const TimeArray times = call_times.end_job();
  if (type == handles.type_null) return;
  JobReport report;
  report.ranks = job.size;
  report.calls = sums_of(read_counters(), type);
  report.times = sums_of(in_microseconds(times), type);
  const c_api::WindowUses uses = window_uses();
  const std::array<uint64_t, 2> windows = sums_of(std::array<uint64_t, 2>{uses.in_place, uses.copied}, type);
  report.windows_in_place = windows[0];
  report.windows_copied = windows[1];
  const std::array<uint64_t, 2> waits =
      sums_of(in_microseconds(std::array<uint64_t, 2>{call_times.timed_ns(), call_times.waited_ns()}), type);
  report.timed_us = waits[0];
  report.waited_us = waits[1];
  keep_parts_within(report);
  keep_latest(report, sums_of(in_microseconds(call_times.waited_for()), type));
  report.choices = call_times.choices().read();
  report.sites = merged_table(place_sites(call_times.sites().read()));
  if (job.rank == 0) tell(report);
} catch (const std::bad_alloc&) {
  end_without_memory();
}

}  // namespace hocket::interposer
