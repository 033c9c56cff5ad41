// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_finder.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "observe/process_facts.h"
#include "platform/machine/process_tree.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::observe {
namespace {

using platform::RecordAccess;
using platform::SeenRecord;

std::string named(int process) {
  const std::string program = printable(facts_of(process).program);
  return "process " + std::to_string(process) + (program.empty() ? "" : " (" + program + ")");
}

// Debuggers name threads, too.
int process_of_thread(int thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  const std::string_view key = "Tgid:\t";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return std::atoi(line.c_str() + key.size());
  return thread;
}

// By name and user: another user may call its own alike. The user is the ranks', which those who start them for others
// needn't be.
using Jobs = std::set<std::pair<std::string, uint32_t>>;

Jobs jobs_of(const std::vector<SeenRecord>& records) {
  Jobs jobs;
  for (const SeenRecord& one : records)
    if (const auto user = user_of(one.process())) jobs.emplace(one.job(), *user);
  return jobs;
}

std::vector<SeenRecord> records_of_jobs(const Jobs& jobs) {
  std::vector<SeenRecord> all = platform::all_records();
  std::erase_if(all, [&](const SeenRecord& one) {
    const auto user = user_of(one.process());
    return !user || !jobs.contains({std::string(one.job()), *user});
  });
  return all;
}

Jobs jobs_started_by(int process) {
  Jobs jobs;
  for (const platform::ProcessEntry& one : platform::descendants_of(process))
    jobs.merge(jobs_of(platform::records_of(one.process)));
  return jobs;
}

// What was hidden from this process, or couldn't be read, among those that the process has started.
RecordAccess access_below(int process) {
  RecordAccess worst = RecordAccess::kHasNone;
  for (const platform::ProcessEntry& one : platform::descendants_of(process)) {
    const RecordAccess access = platform::access_to(one.process);
    if (access == RecordAccess::kOtherVersion) return access;
    if (access == RecordAccess::kNotPermitted) worst = access;
  }
  return worst;
}

Status why_none(int process) {
  RecordAccess access = platform::access_to(process);
  if (access == RecordAccess::kHasNone) access = access_below(process);
  switch (access) {
    case RecordAccess::kNoProcess:
      return {Code::kInvalidArgument,
              "there is no process " + std::to_string(process) + " on this machine; `hocket top` shows those of jobs"};
    case RecordAccess::kNotPermitted:
      return {Code::kSystem, named(process) + " is another user's: its record can be read by that user and by root"};
    case RecordAccess::kOtherVersion:
      return {Code::kNotSupported, named(process) +
                                       " runs another version of hocket, whose record this one can't "
                                       "read: use the command of that version"};
    case RecordAccess::kHasOne:
    case RecordAccess::kHasNone:
      break;
  }
  return {Code::kInvalidArgument,
          named(process) +
              " has no record, nor has any process that it has started: is hocket preloaded there, and has it "
              "come to MPI_Init? `hocket top` shows the jobs that are seen here"};
}

bool read_number(const std::string& word, int& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number > 0;
}

}  // namespace

Result<std::vector<SeenRecord>> records_near(int process) {
  process = process_of_thread(process);
  Jobs jobs = jobs_of(platform::records_of(process));
  if (jobs.empty()) jobs = jobs_started_by(process);
  if (jobs.empty()) return why_none(process);
  std::vector<SeenRecord> records = records_of_jobs(jobs);
  if (records.empty()) return why_none(process);  // they have ended meanwhile
  return records;
}

Result<std::vector<SeenRecord>> records_for(const std::string& word) {
  std::vector<SeenRecord> records = platform::all_records();
  if (word.empty()) return records;
  // Some launchers call jobs by numbers, too.
  const bool is_job = std::any_of(records.begin(), records.end(), [&](const auto& one) { return one.job() == word; });
  int process = 0;
  if (!is_job && read_number(word, process)) return records_near(process);
  std::set<std::string> known;
  for (const SeenRecord& one : records) known.insert(printable(one.job()));
  std::erase_if(records, [&](const SeenRecord& one) { return !printable(one.job()).starts_with(word); });
  if (!records.empty()) return records;
  std::string names;
  for (const std::string& one : known) names += (names.empty() ? "" : ", ") + ("`" + one + "`");
  return Status(
      Code::kInvalidArgument,
      "no job here is called `" + printable(word) + "`, nor is that a process's number; " +
          (names.empty() ? "no job with hocket in it runs here, or it is another user's" : "there are " + names));
}

Result<std::vector<JobView>> views_for(const std::string& word) {
  Result<std::vector<SeenRecord>> records = records_for(word);
  if (!records.is_ok()) return records.take_status();
  return views_of(records.take(), platform::coarse_now_ns(), facts_of, platform::records_of);
}

}  // namespace hocket::observe
