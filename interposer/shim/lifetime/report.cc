// SPDX-License-Identifier: BSD-3-Clause
#include "shim/lifetime/report.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/log.h"
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
  next_pmpi().Reduce(mine.data(), sums.data(), static_cast<int>(N), type, sum_operation(), 0, handles.comm_world);
  return sums;
}

std::vector<uint64_t> sums_of(const std::vector<uint64_t>& mine, MPI_Datatype type) {
  std::vector<uint64_t> sums = mine;
  next_pmpi().Reduce(mine.data(), sums.data(), static_cast<int>(mine.size()), type, sum_operation(), 0,
                     handles.comm_world);
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
    next_pmpi().Reduce(&mine, &all, 1, type, merging, 0, handles.comm_world);
    next_pmpi().Op_free(&merging);
  }
  next_pmpi().Type_free(&type);
  return all;
}

// "": on stderr, for a person.
std::string file_asked_for() {
  const Result<std::string> text = environment::get_text("HOCKET_STATS");
  return text.is_ok() && environment::names_file(text.value()) ? text.value() : std::string();
}

void tell(JobReport& report) {
  find_lines(report);
  if (const std::string path = file_asked_for(); !path.empty()) {
    const Status status = write_file(path, json_text(report));
    if (!status.is_ok()) HOCKET_LOG_ERROR("%s", status.message());
    return;
  }
  const std::string text = statistics_text(report.calls, report.ranks) +
                           windows_text(report.windows_in_place, report.windows_copied) +
                           times_text(report.times, report.ranks) + page_text(report, style_of(STDERR_FILENO));
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // no reader is left
}

}  // namespace

void report_job() try {
  c_api::time_calls(false);
  const MPI_Datatype type = uint64_type();
  const TimeArray times = call_times.end_job();
  if (type == handles.type_null) return;
  JobReport report;
  report.ranks = job.size;
  report.calls = sums_of(read_counters(), type);
  report.times = sums_of(times, type);
  const c_api::WindowUses uses = window_uses();
  const std::array<uint64_t, 2> windows = sums_of(std::array<uint64_t, 2>{uses.in_place, uses.copied}, type);
  report.windows_in_place = windows[0];
  report.windows_copied = windows[1];
  const std::array<uint64_t, 2> waits =
      sums_of(std::array<uint64_t, 2>{call_times.timed_ns(), call_times.waited_ns()}, type);
  report.timed_ns = waits[0];
  report.waited_ns = waits[1];
  keep_latest(report, sums_of(call_times.waited_for(), type));
  report.choices = call_times.choices().read();
  report.sites = merged_table(place_sites(call_times.sites().read()));
  if (job.rank == 0) tell(report);
} catch (const std::bad_alloc&) {
  end_without_memory();
}

}  // namespace hocket::interposer
