// SPDX-License-Identifier: BSD-3-Clause
// Records of other processes (record.h), read from outside, whatever their owners are doing: by what /proc shows of
// their open files, which the kernel lets the same user see, and root. Nothing is written, and nobody is stopped.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/whereabouts/record.h"

namespace hocket::platform {

// nullptr: the record has no line for it.
const CommunicatorName* find_communicator(const Record& record, uint64_t number);

// A copy of a record, made at one time.
class SeenRecord {
 public:
  SeenRecord(int process, std::unique_ptr<const Record> record, uint64_t process_namespace = 0)
      : process_(process), process_namespace_(process_namespace), record_(std::move(record)) {}
  int process() const { return process_; }  // as this process names it
  // In which its owner has its own number, as the kernel tells them apart; 0: unknown.
  uint64_t process_namespace() const { return process_namespace_; }
  const Record& operator*() const { return *record_; }
  const Record* operator->() const { return record_.get(); }
  std::string_view job() const { return text(record_->job); }
  std::string_view host() const { return text(record_->host); }
  std::string_view library() const { return text(record_->library); }
  // "": it has no name.
  std::string_view function(uint32_t number) const;
  std::string_view algorithm(uint32_t number) const;
  // nullptr: the record has no line for it.
  const CommunicatorName* communicator(uint64_t number) const { return find_communicator(*record_, number); }

 private:
  template <size_t N>
  static std::string_view text(const char (&place)[N]) {
    const std::string_view all(place, N);
    return all.substr(0, all.find('\0'));
  }
  int process_;
  uint64_t process_namespace_;
  std::unique_ptr<const Record> record_;
};

// Of one process; most have none, and one that uses hocket in two ways has two.
std::vector<SeenRecord> records_of(int process);
// Why there may be none.
enum class RecordAccess {
  kHasOne,
  kNoProcess,
  kNotPermitted,  // another user's process, or one that hides itself
  kOtherVersion,  // of hocket, with records of another layout
  kHasNone,
};
RecordAccess access_to(int process);
// Of all processes that this one may look at, by process.
std::vector<SeenRecord> all_records();
// Of this user's processes of a job: another's may call its own alike.
std::vector<SeenRecord> records_of_own_job(std::string_view job);
// The same of these processes.
std::vector<SeenRecord> records_of_own_job(std::string_view job, const std::vector<int>& processes);

// Whether a process has come to one of a communicator's calls that are left to the MPI. One that has freed the
// communicator came to all of them, and of what a full table leaves out nothing is known.
bool has_come_to_left_call(const SeenRecord& record, uint64_t communicator, uint64_t number);

// Which of a record's threads tells most of what its process is doing; nullptr: none has come to a call yet.
const ThreadLine* telling_line(const Record& record);
// Since when the thread waits for those that its line names; 0: it doesn't.
uint64_t waits_since_ns(const ThreadLine& line);

// Waits that are shorter make no ring and no late rank.
inline constexpr uint64_t kShortestWaitNs = 1'000'000'000;
// The rank of the job of which a thread has waited for a message for so long, in a function that names one peer;
// negative: there is none, or it is unknown.
int32_t awaited_peer(const ThreadLine& line, uint64_t now_ns);

}  // namespace hocket::platform
