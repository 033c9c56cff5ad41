// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/description.h"

#include <algorithm>

#include "base/clock.h"
#include "platform/machine/process_state.h"
#include "platform/whereabouts/own_record.h"
#include "platform/whereabouts/waits.h"

namespace hocket::platform {
namespace {

uint32_t what_of(const FunctionStamp& stamp) { return stamp.what.load(std::memory_order_relaxed); }
uint64_t since_of(const FunctionStamp& stamp) { return stamp.since_ns.load(std::memory_order_relaxed); }

std::string seconds_since(uint64_t since_ns, uint64_t now_ns) {
  return std::to_string(now_ns > since_ns ? (now_ns - since_ns) / kNanosecondsPerSecond : 0) + " s";
}

std::string describe_rank(int32_t rank) {
  return rank == FunctionStamp::kAny ? "any rank" : "rank " + std::to_string(rank);
}

bool is_send(std::string_view function) { return function.find("end") != function.npos; }

// Further ones are counted.
constexpr size_t kMostNamed = 8;

// Whom the first of them that are in a ring, or lead to one, wait for.
Ring find_ring(const std::vector<LateRank>& late, const OwnersOfRecords& owners,
               const std::vector<SeenRecord>& records) {
  const WaitGraph graph(records, coarse_now_ns(), records_of);
  for (size_t i = 0; i < std::min(late.size(), kMostNamed); ++i) {
    const SeenRecord* const record = owners.named(late[i].process);
    if (record == nullptr) continue;
    if (Ring ring = graph.ring_from(*record); !ring.members.empty()) return ring;
  }
  return {};
}

// As this process numbers it: of the first late one, if it is in the ring, where there is one, else of the ring's. 0:
// nobody's is known.
int process_to_look_at(const LateRank& first, const OwnersOfRecords& owners, const Ring& ring) {
  const SeenRecord* const record = owners.named(first.process);
  const auto& members = ring.members;
  if (!members.empty() && std::find(members.begin(), members.end(), record) == members.end())
    return members.front()->process();
  if (record != nullptr) return record->process();
  return owners.has_named(first.process) ? 0 : static_cast<int>(first.process);
}

std::string describe_late(const LateRank& late, const OwnersOfRecords& owners) {
  std::string text = "rank " + std::to_string(late.rank);
  if (late.process == 0) return text;
  const SeenRecord* const record = owners.named(late.process);
  if (record == nullptr && owners.has_named(late.process)) return text;  // of several it may be any
  const int process = record != nullptr ? record->process() : static_cast<int>(late.process);
  if (record != nullptr && (*record)->rank >= 0 && static_cast<uint32_t>((*record)->rank) != late.rank)
    text += ", " + std::to_string((*record)->rank) + " of the job";
  text += " (process " + std::to_string(process);
  if (record != nullptr && !record->host().empty()) text += " on host " + std::string(record->host());
  std::string what = record != nullptr ? describe_place(*record, coarse_now_ns()) : std::string();
  const ProcessState state = state_of(process);
  if (state.kind != ProcessState::Kind::kUnknown) what += (what.empty() ? "" : ", and ") + describe(state);
  if (!what.empty()) text += ", which " + what;
  return text + ")";
}

}  // namespace

std::string describe_function(const SeenRecord& record, const FunctionStamp& stamp) {
  const uint32_t what = what_of(stamp);
  const uint32_t number = what & FunctionStamp::kNumber;
  if (number == 0) return {};
  const std::string_view name = record.function(number - 1);
  std::string text(name.empty() ? "a function of the MPI" : name);
  if (!stamp.has_peer()) return text;
  const int32_t tag = stamp.tag.load(std::memory_order_relaxed);
  text += (is_send(name) ? " to " : " from ") + describe_rank(stamp.peer.load(std::memory_order_relaxed));
  return text + (tag == FunctionStamp::kAny ? ", any tag" : ", tag " + std::to_string(tag));
}

std::string describe_communicator(std::string_view name, uint32_t size) {
  const std::string ranks = " of " + std::to_string(size) + (size == 1 ? " rank" : " ranks");
  if (name.empty()) return "a communicator" + ranks;
  return (name.starts_with("MPI_COMM_") ? std::string(name) : "communicator \"" + std::string(name) + "\"") + ranks;
}

std::string describe_communicator(const SeenRecord& record, uint64_t number) {
  const CommunicatorName* const known = record.communicator(number);
  return known == nullptr ? "another communicator" : describe_communicator(name_in(known), known->size);
}

std::string describe_place(const SeenRecord& record, uint64_t now_ns) {
  const ThreadLine* const line = telling_line(*record);
  if (line == nullptr) return "has made no call yet";
  if (line->collective.is_in()) {
    std::string text = "has been in " + describe_function(record, line->collective);
    if (const uint64_t number = line->communicator.load(std::memory_order_relaxed); number != 0)
      text += " of " + describe_communicator(record, number);
    return text + " for " + seconds_since(since_of(line->collective), now_ns);
  }
  if (line->other.is_in()) {
    // One that was started.
    const uint64_t number = waits_since_ns(*line) != 0 ? line->communicator.load(std::memory_order_relaxed) : 0;
    const std::string of = number == 0 ? "" : " of a collective of " + describe_communicator(record, number);
    return "has been in " + describe_function(record, line->other) + of + " for " +
           seconds_since(since_of(line->other), now_ns);
  }
  const FunctionStamp& last = since_of(line->other) >= since_of(line->collective) ? line->other : line->collective;
  const std::string what = describe_function(record, last);
  const std::string calls = what.starts_with("MPI_") ? "no MPI call" : "no call of hocket";
  return "has made " + calls + " for " + seconds_since(since_of(last), now_ns) +
         (what.empty() ? "" : ", after " + what);
}

std::string describe_waiting(const RankWait& wait) {
  return "rank " + std::to_string(wait.rank) + " has waited for " + std::to_string(wait.ns / kNanosecondsPerSecond) +
         (wait.goes_on ? " s, and goes on waiting, for " : " s for ");
}

std::string listed(const std::vector<std::string>& ranks) {
  std::string text;
  const size_t named = std::min(ranks.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + ranks[i];
  const size_t others = ranks.size() - named;
  return others == 0 ? text : text + " and " + std::to_string(others) + (others == 1 ? " other rank" : " other ranks");
}

std::string describe_wait(const RankWait& wait, const std::vector<LateRank>& late,
                          const std::vector<SeenRecord>& records) {
  const OwnersOfRecords owners(records);
  std::vector<std::string> ranks;
  for (size_t i = 0; i < late.size(); ++i)
    ranks.push_back(i < kMostNamed ? describe_late(late[i], owners) : std::string());
  std::string text = describe_waiting(wait) + listed(ranks);
  if (late.front().process == 0) return text;
  const Ring ring = find_ring(late, owners, records);
  if (!ring.members.empty())
    text +=
        std::string(ring.is_certain ? "; this is a deadlock: " : "; this may be a deadlock: ") + describe_ring(ring);
  const int process = process_to_look_at(late.front(), owners, ring);
  if (process == 0) return text;
  return text + "; where it is: gdb -p " + std::to_string(process) + " -batch -ex 'thread apply all bt'";
}

}  // namespace hocket::platform
