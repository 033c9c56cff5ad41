// SPDX-License-Identifier: BSD-3-Clause
#include "shim/communicators/late_in_mpi.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "platform/whereabouts/description.h"
#include "platform/whereabouts/job_processes.h"
#include "platform/whereabouts/metrics.h"
#include "shim/communicators/communicators.h"
#include "shim/job/errors.h"
#include "shim/job/job.h"
#include "shim/job/whereabouts.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {
namespace {

using platform::FunctionStamp;
using platform::SeenRecord;
using platform::ThreadLine;

// Ranks of a node look one after the other.
constexpr uint64_t kFirstLookNs = kNanosecondsPerSecond, kTurnNs = 50'000'000;
constexpr int kTurns = 16;

// 0: nobody is told of.
uint64_t limit_ns() {
  static const uint64_t limit = [] {
    const Result<int64_t> seconds = environment::get_integer("HOCKET_LATE_S");
    return seconds.is_ok() ? static_cast<uint64_t>(seconds.value()) * kNanosecondsPerSecond : 0;
  }();
  return limit;
}

bool ends_calls() {
  static const bool ends = [] {
    const Result<int> action = environment::get_enum("HOCKET_LATE_ACTION");
    return action.is_ok() && action.value() != 0;
  }();
  return ends;
}

void name_peer(FunctionStamp& stamp) {
  if (!stamp.has_peer() || stamp.of_all.load(std::memory_order_relaxed) != FunctionStamp::kUnknown) return;
  const int rank = world_rank_of(internal::message_comm, stamp.peer.load(std::memory_order_relaxed));
  // Asked once: one that is no rank of this job is nobody's.
  stamp.of_all.store(rank >= 0 ? rank : FunctionStamp::kAny, std::memory_order_relaxed);
}

// A call that the thread waits in.
struct Waited {
  internal::LeftCall call;
  uint64_t since_ns = 0;
  uint64_t looked_after_ns = 0;  // it had waited for so long
  bool is_told = false;

  bool is_of(const internal::LeftCall& other) const {
    return call.communicator == other.communicator && call.number == other.number;
  }
};

class RanksOfCall {
 public:
  RanksOfCall(const Waited& waited, const std::vector<int>& in_world, std::vector<SeenRecord> records)
      : waited_(waited), in_world_(in_world), records_(std::move(records)) {
    for (uint32_t rank = 0; rank < in_world_.size(); ++rank) {
      const SeenRecord* const record = record_of(in_world_[rank]);
      if (record == nullptr) continue;
      if (platform::has_come_to_left_call(*record, waited.call.communicator, waited.call.number))
        note_waiting(*record, in_world_[rank]);
      else
        late_.push_back({rank, (*record)->process});
    }
  }
  const std::vector<platform::LateRank>& late() const { return late_; }
  const std::vector<SeenRecord>& records() const { return records_; }
  // Who has waited longest, of those that wait.
  int teller() const { return teller_.second; }

 private:
  const SeenRecord* record_of(int rank) const {
    const auto found =
        std::find_if(records_.begin(), records_.end(), [rank](const SeenRecord& one) { return one->rank == rank; });
    return found == records_.end() ? nullptr : &*found;
  }
  void note_waiting(const SeenRecord& record, int rank) {
    for (const ThreadLine& line : record->threads) {
      const FunctionStamp& stamp = line.collective.is_in() ? line.collective : line.other;
      const bool is_there = stamp.is_in() &&
                            line.communicator.load(std::memory_order_relaxed) == waited_.call.communicator &&
                            line.number.load(std::memory_order_relaxed) == waited_.call.number;
      if (is_there) teller_ = std::min(teller_, {stamp.since_ns.load(std::memory_order_relaxed), rank});
    }
  }

  const Waited& waited_;
  const std::vector<int>& in_world_;
  const std::vector<SeenRecord> records_;
  std::vector<platform::LateRank> late_;
  std::pair<uint64_t, int> teller_{UINT64_MAX, -1};
};

void publish(ThreadLine& line, const std::vector<platform::LateRank>& late, uint64_t since_ns) {
  const auto count = std::min<size_t>(late.size(), ThreadLine::kAwaited);
  for (size_t i = 0; i < count; ++i) line.awaited[i].store(late[i].process, std::memory_order_relaxed);
  line.awaited_ranks.store(static_cast<uint32_t>(late.size()), std::memory_order_relaxed);
  line.is_left.store(1, std::memory_order_relaxed);
  line.waits_since_ns.store(late.empty() ? 0 : since_ns, std::memory_order_relaxed);
}

uint64_t case_of(const internal::LeftCall& call, const std::vector<platform::LateRank>& late) {
  uint64_t hash = static_cast<uint64_t>(call.collective) + 1;
  for (const platform::LateRank& one : late) hash = (hash ^ one.process) * 0x9e3779b97f4a7c15ull;
  return hash | 1;
}

// What was said last of the same ranks and collective, by whichever rank, is said again only of one that waits twice as
// long.
bool may_tell(const internal::LeftCall& call, const RanksOfCall& ranks, uint64_t waited_ns) {
  constexpr uint64_t kMostDoublings = 10;
  const uint64_t what = case_of(call, ranks.late());
  uint64_t times = 0;
  for (const SeenRecord& one : ranks.records())
    if (one->late_case.load(std::memory_order_relaxed) == what)
      times = std::max(times, one->late_times.load(std::memory_order_relaxed));
  if (waited_ns / limit_ns() < uint64_t{1} << std::min(times, kMostDoublings)) return false;
  platform::Record& own = *platform::own_record();
  own.late_case.store(what, std::memory_order_relaxed);
  own.late_times.store(times + 1, std::memory_order_relaxed);
  return true;
}

void tell(const internal::LeftCall& call, const platform::CommunicatorName& noted, const RanksOfCall& ranks,
          uint64_t waited_ns) {
  const std::string text =
      std::string(mpi_name(call.collective)) + " of " +
      platform::describe_communicator(platform::name_in(&noted), noted.size) + ": " +
      platform::describe_wait({noted.rank, waited_ns, !ends_calls()}, ranks.late(), ranks.records());
  platform::own_record()->late_lines.fetch_add(1, std::memory_order_relaxed);
  if (!ends_calls()) {
    HOCKET_LOG_WARN("%s", text.c_str());
    return;
  }
  HOCKET_LOG_ERROR("%s; HOCKET_LATE_ACTION=abort ends the call", text.c_str());
  end_all_ranks(1);
}

// Seldom, and more and more so: reading all records takes a while.
bool is_time(const Waited& waited, uint64_t waited_ns) {
  if (waited_ns >= limit_ns() && waited.looked_after_ns < limit_ns()) return true;
  const uint64_t first_ns = kFirstLookNs + static_cast<uint64_t>(internal::job.rank % kTurns) * kTurnNs;
  return waited_ns >= std::max(first_ns, 2 * waited.looked_after_ns);
}

platform::JobProcesses& job_processes() {
  static auto* const processes = new platform::JobProcesses;  // never destroyed: threads may outlive that
  return *processes;
}

void look_for_late(ThreadLine& line, const internal::LeftCall& call, uint64_t since_ns) {
  static thread_local Waited waited;
  if (!waited.is_of(call) || waited.since_ns != since_ns) {
    // Of the last long wait, which has ended.
    if (waited.is_told) platform::own_record()->came_after_all.fetch_add(1, std::memory_order_relaxed);
    waited = {call, since_ns, 0, false};
  }
  note_call(call);
  const uint64_t now = platform::coarse_now_ns();
  const uint64_t waited_ns = now > since_ns ? now - since_ns : 0;
  if (waited.is_told || !is_time(waited, waited_ns)) return;
  waited.looked_after_ns = waited_ns;
  // nullptr: it has been freed. What is asked of the MPI here, where it waits, is answered by the rank alone.
  const platform::CommunicatorName* const noted =
      platform::find_communicator(*platform::own_record(), call.communicator);
  std::vector<int> in_world;
  if (noted == nullptr || !find_in_world(call.comm, in_world)) return;
  const std::string_view job = platform::job_label();
  const RanksOfCall seen(waited, in_world, job_processes().records(job));
  publish(line, seen.late(), since_ns);
  const auto is_to_tell = [](const RanksOfCall& ranks) {
    return !ranks.late().empty() && ranks.teller() == internal::job.rank;
  };
  if (waited_ns < limit_ns() || !is_to_tell(seen)) return;
  const RanksOfCall ranks(waited, in_world, job_processes().look_anew(job));
  if (!is_to_tell(ranks) || !may_tell(call, ranks, waited_ns)) return;
  waited.is_told = true;
  tell(call, *noted, ranks, waited_ns);
}

// The call that the thread waits in, or has started and waits for; nullptr: it is none that was left to the MPI.
const internal::LeftCall* left_call(const ThreadLine& line) {
  const internal::LeftCalls& left = internal::left_calls;
  if (line.collective.is_in())
    return left.blocking.communicator != 0 &&
                   left.blocking.communicator == line.communicator.load(std::memory_order_relaxed)
               ? &left.blocking
               : nullptr;
  if (!line.other.is_in()) return nullptr;
  for (const internal::LeftCall& one : left.started)
    for (int i = 0; one.communicator != 0 && i < left.awaited_count; ++i)
      if (left.awaited[i] == one.request && one.request != handles.request_null) return &one;
  return nullptr;
}

}  // namespace

void note_long_wait() {
  platform::write_metrics_when_due();
  ThreadLine* const line = platform::own_line();
  if (line == nullptr) return;
  if (line->other.is_in()) name_peer(line->other);
  if (limit_ns() == 0) return;
  const internal::LeftCall* const call = left_call(*line);
  if (call == nullptr) return;
  const FunctionStamp& stamp = line->collective.is_in() ? line->collective : line->other;
  look_for_late(*line, *call, stamp.since_ns.load(std::memory_order_relaxed));
}

}  // namespace hocket::interposer
