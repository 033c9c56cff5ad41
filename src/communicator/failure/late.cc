// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/late.h"

#include <algorithm>
#include <utility>

#include "communicator/failure/presence.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::communicator {

using platform::ThreadLine;

namespace {

uint64_t signature_of(const CallSignature& call, const std::vector<uint32_t>& late) {
  uint64_t hash = engines::shared_memory::hash_of_shape({.what = call.what, .bytes = 0, .operation = 0});
  for (const uint32_t place : late) hash = (hash ^ place) * 0x9e3779b97f4a7c15ull;
  return hash | 1;
}

}  // namespace

std::vector<uint32_t> LateFinder::missing(const Track& track) const {
  std::vector<uint32_t> late;
  for (uint32_t place = 0; place < participants_.ranks_here(); ++place)
    if (!has_come(track, place, track.lane().announced())) late.push_back(place);
  return late;
}

// A blocking call is what the rank waits in. Of those that are started it may wait for any: where all ranks have come
// to one, nothing is said of the others.
std::optional<LateFinder::Awaited> LateFinder::awaited() const {
  if (is_in_call(tracks_.first(), participants_)) {
    Awaited found{0, missing(tracks_.first())};
    return found.late.empty() ? std::nullopt : std::optional(std::move(found));
  }
  std::optional<Awaited> found;
  for (uint32_t index = 1; index < Tracks::kMost; ++index) {
    const Track* const track = tracks_.find(index);
    if (track == nullptr || !is_in_call(*track, participants_)) continue;
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
  line->is_left.store(0, std::memory_order_relaxed);
  line->waits_since_ns.store(platform::coarse_now_ns() - static_cast<uint64_t>(waited_ns), std::memory_order_relaxed);
}

void LateFinder::withdraw() {
  if (ThreadLine* const line = platform::own_line(); line != nullptr)
    line->waits_since_ns.store(0, std::memory_order_relaxed);
}

bool LateFinder::may_tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const {
  const uint64_t number = tracks_.find(awaited.track)->lane().announced();
  return participants_.group->may_tell_late(awaited.track, number, signature_of(call, awaited.late),
                                            waited_ns / policy_.after_ns);
}

bool LateFinder::read_call(uint32_t track, CallSignature& call) const {
  const auto& lane = tracks_.find(track)->lane();
  return lane.read_record(participants_.group->rank(), lane.announced(), call);
}

std::string LateFinder::describe_call(uint32_t track, const CallSignature& call) const {
  return (track == 0 ? "" : "a started ") + describe(call, vocabulary_) + " of " +
         platform::describe_communicator(platform::name_in(participants_.noted), participants_.size) + ": ";
}

std::string LateFinder::find(int64_t waited_ns) const {
  const std::optional<Awaited> found = awaited();
  CallSignature call;
  if (!found || !read_call(found->track, call) || !may_tell(*found, call, waited_ns)) return {};
  return tell(*found, call, waited_ns);
}

std::optional<uint32_t> LateFinder::waits_for_others() const {
  for (uint32_t index = 0; index < Tracks::kMost; ++index) {
    const Track* const track = tracks_.find(index);
    if (track == nullptr || !is_in_call(*track, participants_)) continue;
    return missing(*track).empty() ? std::optional(index) : std::nullopt;
  }
  return std::nullopt;
}

std::string LateFinder::find_elsewhere(uint32_t track, const std::vector<uint32_t>& late, int64_t waited_ns) const {
  CallSignature call;
  if (!read_call(track, call) || !may_tell({track, late}, call, waited_ns)) return {};
  // In others nobody is through before all have come.
  const bool may_be_through = schedule::has_root(static_cast<schedule::Collective>(call.what & 0xff));
  const char* const silent =
      may_be_through ? ", which has not answered: it is late, or through with its part)" : ", which has not answered)";
  std::vector<std::string> ranks;
  for (const uint32_t rank : late)
    ranks.push_back("rank " + std::to_string(rank) + " (" + participants_.wire.places[rank] + silent);
  return describe_call(track, call) + platform::describe_waiting(wait(waited_ns)) + platform::listed(ranks);
}

std::string LateFinder::tell(const Awaited& awaited, const CallSignature& call, int64_t waited_ns) const {
  std::vector<platform::LateRank> late;
  for (const uint32_t place : awaited.late) late.push_back({participants_.rank_at(place), process_of(place)});
  // Threads of one process need nobody's record.
  std::vector<platform::SeenRecord> records;
  if (late.front().process != 0) records = platform::records_of_own_job(platform::job_label());
  return describe_call(awaited.track, call) + platform::describe_wait(wait(waited_ns), late, records);
}

}  // namespace hocket::communicator
