// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/late.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "platform/machine/process_state.h"
#include "platform/whereabouts/description.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::communicator {

using platform::ProcessState;
using platform::SeenRecord;
using platform::ThreadLine;

namespace {

// Further ones are counted.
constexpr size_t kMostNamed = 8;

uint64_t signature_of(const CallSignature& call, const std::vector<uint32_t>& late) {
  uint64_t hash = engines::shared_memory::hash_of_shape({.what = call.what, .bytes = 0, .operation = 0});
  for (const uint32_t place : late) hash = (hash ^ place) * 0x9e3779b97f4a7c15ull;
  return hash | 1;
}

// As this process names it.
const SeenRecord* find_record(const std::vector<SeenRecord>& records, uint32_t process) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const SeenRecord& one) { return one->process == process; });
  return found == records.end() ? nullptr : &*found;
}

}  // namespace

// One that is far ahead has a later record in the call's place, but has finished the call.
std::vector<uint32_t> LateFinder::missing(const Track& track) const {
  const uint64_t number = track.lane().announced();
  std::vector<uint32_t> late;
  CallSignature signature;
  for (uint32_t place = 0; place < participants_.ranks_here(); ++place)
    if (!track.lane().read_record(place, number, signature) && !track.lane().has_finished(place, number))
      late.push_back(place);
  return late;
}

bool LateFinder::is_in_call(const Track& track) const {
  const uint64_t number = track.lane().announced();
  return number != 0 && !track.lane().has_finished(participants_.group->rank(), number);
}

// A blocking call is what the rank waits in. Of those that are started it may wait for any: where all ranks have come
// to one, nothing is said of the others.
std::optional<LateFinder::Awaited> LateFinder::awaited() const {
  if (is_in_call(tracks_.first())) {
    Awaited found{0, missing(tracks_.first())};
    return found.late.empty() ? std::nullopt : std::optional(std::move(found));
  }
  std::optional<Awaited> found;
  for (uint32_t index = 1; index < Tracks::kMost; ++index) {
    const Track* const track = tracks_.find(index);
    if (track == nullptr || !is_in_call(*track)) continue;
    std::vector<uint32_t> late = missing(*track);
    if (late.empty()) return std::nullopt;
    if (!found) found = Awaited{index, std::move(late)};
  }
  return found;
}

uint32_t LateFinder::process_of(uint32_t place) const {
  const auto& peer = participants_.peers[place];
  return peer == nullptr ? 0 : peer->address().process;
}

void LateFinder::publish(int64_t waited_ns) const {
  ThreadLine* const line = platform::own_line();
  if (line == nullptr) return;
  const std::optional<Awaited> found = awaited();
  if (!found) return withdraw();
  const auto& lane = tracks_.find(found->track)->lane();
  CallSignature call;
  if (lane.read_record(participants_.group->rank(), lane.announced(), call))
    line->bytes.store(call.bytes, std::memory_order_relaxed);
  line->communicator.store(participants_.number, std::memory_order_relaxed);
  line->number.store(lane.announced(), std::memory_order_relaxed);
  const uint32_t count = static_cast<uint32_t>(std::min<size_t>(found->late.size(), ThreadLine::kAwaited));
  for (uint32_t i = 0; i < count; ++i) line->awaited[i].store(process_of(found->late[i]), std::memory_order_relaxed);
  line->awaited_ranks.store(static_cast<uint32_t>(found->late.size()), std::memory_order_relaxed);
  line->waits_since_ns.store(platform::coarse_now_ns() - static_cast<uint64_t>(waited_ns), std::memory_order_relaxed);
}

void LateFinder::withdraw() {
  if (ThreadLine* const line = platform::own_line(); line != nullptr)
    line->waits_since_ns.store(0, std::memory_order_relaxed);
}

std::string LateFinder::describe_communicator() const {
  return platform::describe_communicator(platform::name_in(participants_.noted), participants_.size);
}

std::string LateFinder::describe_late(uint32_t place, const std::vector<SeenRecord>& records) const {
  std::string text = "rank " + std::to_string(participants_.rank_at(place));
  const uint32_t process = process_of(place);
  if (process == 0) return text;
  const SeenRecord* const record = find_record(records, process);
  const int seen_as = record != nullptr ? record->process() : static_cast<int>(process);
  const ProcessState state = platform::state_of(seen_as);
  if (record != nullptr && (*record)->rank >= 0 &&
      static_cast<uint32_t>((*record)->rank) != participants_.rank_at(place))
    text += ", " + std::to_string((*record)->rank) + " of the job";
  text += " (process " + std::to_string(seen_as);
  std::string what = record != nullptr ? platform::describe_place(*record, platform::coarse_now_ns()) : std::string();
  if (state.kind != ProcessState::Kind::kUnknown) what += (what.empty() ? "" : ", and ") + platform::describe(state);
  if (!what.empty()) text += ", which " + what;
  return text + ")";
}

std::string LateFinder::describe_all(const std::vector<uint32_t>& late, const std::vector<SeenRecord>& records) const {
  std::string text;
  const size_t named = std::min(late.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : i + 1 == late.size() ? " and " : ", ") + describe_late(late[i], records);
  if (named < late.size()) text += " and " + std::to_string(late.size() - named) + " other ranks";
  return text;
}

bool LateFinder::may_tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const {
  const uint64_t number = tracks_.find(awaited.track)->lane().announced();
  return participants_.group->may_tell_late(awaited.track, number, signature_of(call, awaited.late),
                                            waited_ns / limit_ns_);
}

std::string LateFinder::find(int64_t waited_ns) const {
  const std::optional<Awaited> found = awaited();
  if (!found) return {};
  const auto& lane = tracks_.find(found->track)->lane();
  CallSignature call;
  if (!lane.read_record(participants_.group->rank(), lane.announced(), call) || !may_tell(*found, call, waited_ns))
    return {};
  return tell(*found, call, waited_ns);
}

std::string LateFinder::tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const {
  const uint32_t process = process_of(awaited.late.front());
  std::vector<SeenRecord> records;
  if (process != 0) records = platform::all_records(platform::job_label());
  std::string text = describe(call, vocabulary_) + " of " + describe_communicator() + ": rank " +
                     std::to_string(participants_.rank) + " has waited for " +
                     std::to_string(waited_ns / static_cast<int64_t>(kNanosecondsPerSecond)) +
                     " s, and goes on waiting, for " + describe_all(awaited.late, records);
  if (process == 0) return text;
  const auto ring = platform::find_deadlock(records, process, platform::coarse_now_ns());
  if (!ring.empty()) text += "; this is a deadlock: " + platform::describe_deadlock(ring);
  const SeenRecord* const record = find_record(records, process);
  const int seen_as = record != nullptr ? record->process() : static_cast<int>(process);
  return text + "; where it is: gdb -p " + std::to_string(seen_as) + " -batch -ex 'thread apply all bt'";
}

}  // namespace hocket::communicator
