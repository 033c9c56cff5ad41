// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/description.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "platform/machine/process_state.h"
#include "platform/whereabouts/own_record.h"

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

std::string name_of(const SeenRecord& record) {
  return record->rank >= 0 ? "rank " + std::to_string(record->rank) : "process " + std::to_string(record->process);
}

// Further ones are counted.
constexpr size_t kMostNamed = 8;

const SeenRecord* find_record(const std::vector<SeenRecord>& records, uint32_t process) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const SeenRecord& one) { return one->process == process; });
  return found == records.end() ? nullptr : &*found;
}

int seen_as(const SeenRecord* record, uint32_t process) {
  return record != nullptr ? record->process() : static_cast<int>(process);
}

std::string describe_late(const LateRank& late, const std::vector<SeenRecord>& records) {
  std::string text = "rank " + std::to_string(late.rank);
  if (late.process == 0) return text;
  const SeenRecord* const record = find_record(records, late.process);
  if (record != nullptr && (*record)->rank >= 0 && static_cast<uint32_t>((*record)->rank) != late.rank)
    text += ", " + std::to_string((*record)->rank) + " of the job";
  text += " (process " + std::to_string(seen_as(record, late.process));
  std::string what = record != nullptr ? describe_place(*record, coarse_now_ns()) : std::string();
  const ProcessState state = state_of(seen_as(record, late.process));
  if (state.kind != ProcessState::Kind::kUnknown) what += (what.empty() ? "" : ", and ") + describe(state);
  if (!what.empty()) text += ", which " + what;
  return text + ")";
}

// For whom each of a job's processes waits; of one that waits for any of several nothing can be said.
class Edges {
 public:
  Edges(const std::vector<SeenRecord>& records, uint64_t now_ns) : now_ns_(now_ns) {
    for (const SeenRecord& one : records) {
      by_process_.emplace(one->process, &one);
      if (one->rank >= 0) by_rank_.emplace(one->rank, &one);
    }
  }
  const SeenRecord* find(uint32_t process) const {
    const auto found = by_process_.find(process);
    return found == by_process_.end() ? nullptr : found->second;
  }
  std::vector<const SeenRecord*> of(const SeenRecord& record) const {
    std::vector<const SeenRecord*> awaited;
    const ThreadLine* const line = telling_line(*record);
    if (line == nullptr) return awaited;
    const uint64_t since_ns = waits_since_ns(*line);
    if (since_ns != 0 && has_lasted(since_ns)) {
      const uint32_t count = std::min(line->awaited_ranks.load(std::memory_order_relaxed), ThreadLine::kAwaited);
      for (uint32_t i = 0; i < count; ++i) add(find(line->awaited[i].load(std::memory_order_relaxed)), awaited);
    } else if (since_ns == 0) {
      const auto peer = by_rank_.find(awaited_peer(*line, now_ns_));
      if (peer != by_rank_.end()) add(peer->second, awaited);
    }
    return awaited;
  }

 private:
  bool has_lasted(uint64_t since_ns) const { return since_ns + kShortestWaitNs <= now_ns_; }
  static void add(const SeenRecord* one, std::vector<const SeenRecord*>& awaited) {
    if (one != nullptr) awaited.push_back(one);
  }
  std::map<uint32_t, const SeenRecord*> by_process_;
  std::map<int32_t, const SeenRecord*> by_rank_;
  uint64_t now_ns_;
};

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

std::vector<const SeenRecord*> find_deadlock(const std::vector<SeenRecord>& records, uint32_t process,
                                             uint64_t now_ns) {
  const Edges edges(records, now_ns);
  std::vector<const SeenRecord*> path;
  std::vector<std::vector<const SeenRecord*>> left;  // of each on the path, who is still to be looked at
  std::set<const SeenRecord*> seen;
  if (const SeenRecord* const first = edges.find(process)) {
    path.push_back(first);
    left.push_back(edges.of(*first));
    seen.insert(first);
  }
  while (!path.empty()) {
    if (left.back().empty()) {
      path.pop_back();
      left.pop_back();
      continue;
    }
    const SeenRecord* const next = left.back().back();
    left.back().pop_back();
    const auto again = std::find(path.begin(), path.end(), next);
    if (again != path.end()) return {again, path.end()};
    if (!seen.insert(next).second) continue;
    path.push_back(next);
    left.push_back(edges.of(*next));
  }
  return {};
}

std::string describe_deadlock(const std::vector<const SeenRecord*>& ring) {
  std::string text;
  for (size_t i = 0; i < ring.size(); ++i)
    text += (i == 0 ? "" : ", ") + name_of(*ring[i]) + (i == 0 ? " waits for " : " for ") +
            name_of(*ring[(i + 1) % ring.size()]);
  return text;
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
  std::vector<std::string> ranks;
  for (size_t i = 0; i < late.size(); ++i)
    ranks.push_back(i < kMostNamed ? describe_late(late[i], records) : std::string());
  std::string text = describe_waiting(wait) + listed(ranks);
  const uint32_t process = late.front().process;
  if (process == 0) return text;
  const auto ring = find_deadlock(records, process, coarse_now_ns());
  if (!ring.empty()) text += "; this is a deadlock: " + describe_deadlock(ring);
  return text + "; where it is: gdb -p " + std::to_string(seen_as(find_record(records, process), process)) +
         " -batch -ex 'thread apply all bt'";
}

}  // namespace hocket::platform
