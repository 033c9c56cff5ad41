// SPDX-License-Identifier: BSD-3-Clause
// What is known at the end of a job, of all its ranks together.
//
// Thread safety: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/call_times.h"
#include "core/report/site_table.h"
#include "core/report/source_lines.h"

namespace hocket::interposer {

struct LateRank {
  size_t rank = 0;  // of the job
  uint64_t us = 0;  // that others have waited for it, all of them together
};

struct JobReport {
  int ranks = 1;
  CounterArray calls{};
  uint64_t windows_in_place = 0;
  uint64_t windows_copied = 0;
  TimeArray times{};           // microseconds, as all times of all ranks: nanoseconds would overflow
  uint64_t timed_us = 0;       // in calls of which it is known when the last rank came
  uint64_t waited_us = 0;      // of these, until it had come
  std::vector<LateRank> late;  // longest first, not all of them
  uint64_t other_late = 0;     // ranks that are not there
  uint64_t other_late_us = 0;  // for these
  SiteTable sites;
  std::vector<SourceLine> lines;  // of these; empty where none is known

  std::vector<ChoiceTimes> choices;  // as rank 0 has seen them, longest first

  uint64_t job_us() const { return times[kCollectives]; }
  uint64_t within_us() const;
  uint64_t moving_us() const { return timed_us - std::min(waited_us, timed_us); }
  uint64_t not_told_apart_us() const { return within_us() - std::min(timed_us, within_us()); }
};

// Of parts that were rounded, and summed up while a thread may have been in a call: none is longer than its whole.
void keep_parts_within(JobReport& report);

// Keeps the longest; `us` by rank.
void keep_latest(JobReport& report, const std::vector<uint64_t>& us);

// Reads the program's and its libraries' debug information for all sites. Takes seconds where that is long.
void find_lines(JobReport& report);

// As find_lines() does in the end: of one line's calls compilers make several, which become one again.
void merge_lines(JobReport& report);

// "main, solver.c:31"; without debug information "main+0x1f, solver", "solver+0x11b2".
std::string place_text(const PlacedSite& site, const SourceLine& line);

}  // namespace hocket::interposer
