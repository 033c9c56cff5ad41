// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/late.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "platform/machine/process_state.h"

namespace hocket::communicator {

using platform::ProcessState;

namespace {

// Further ones are counted.
constexpr size_t kMostNamed = 8;

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

std::string LateFinder::describe_late(uint32_t place) const {
  std::string text = "rank " + std::to_string(participants_.rank_at(place));
  const auto& peer = participants_.peers[place];
  if (peer == nullptr) return text;
  const int process = static_cast<int>(peer->address().process);
  const ProcessState state = platform::state_of(process);
  text += " (process " + std::to_string(process);
  if (state.kind != ProcessState::Kind::kUnknown) text += ", which " + platform::describe(state);
  return text + ")";
}

std::string LateFinder::describe_all(const std::vector<uint32_t>& late) const {
  std::string text;
  const size_t named = std::min(late.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : i + 1 == late.size() ? " and " : ", ") + describe_late(late[i]);
  if (named < late.size()) text += " and " + std::to_string(late.size() - named) + " other ranks";
  return text;
}

bool LateFinder::is_in_call(const Track& track) const {
  const uint64_t number = track.lane().announced();
  return number != 0 && !track.lane().has_finished(participants_.group->rank(), number);
}

// A blocking call is what the rank waits in. Of those that are started it may wait for any: where all ranks have come
// to one, nothing is said of the others.
std::string LateFinder::find(int64_t waited_ns) const {
  if (is_in_call(tracks_.first())) return tell(0, missing(tracks_.first()), waited_ns);
  uint32_t found = 0;
  std::vector<uint32_t> late;
  for (uint32_t index = 1; index < Tracks::kMost; ++index) {
    const Track* const track = tracks_.find(index);
    if (track == nullptr || !is_in_call(*track)) continue;
    std::vector<uint32_t> missing_here = missing(*track);
    if (missing_here.empty()) return {};
    if (found == 0) late = std::move(missing_here);
    if (found == 0) found = index;
  }
  return tell(found, late, waited_ns);
}

std::string LateFinder::tell(uint32_t index, const std::vector<uint32_t>& late, int64_t waited_ns) const {
  if (late.empty()) return {};
  const engines::shared_memory::MemoryTransport& lane = tracks_.find(index)->lane();
  CallSignature call;
  if (!lane.read_record(participants_.group->rank(), lane.announced(), call) ||
      !participants_.group->may_tell_late(index, lane.announced()))
    return {};
  std::string text = describe(call, vocabulary_) + " of a communicator of " + std::to_string(participants_.size) +
                     " ranks: rank " + std::to_string(participants_.rank) + " has waited for " +
                     std::to_string(waited_ns / static_cast<int64_t>(kNanosecondsPerSecond)) +
                     " s, and goes on waiting, for " + describe_all(late);
  const auto& first = participants_.peers[late.front()];
  if (first != nullptr)
    text += "; where it is: gdb -p " + std::to_string(first->address().process) + " -batch -ex 'thread apply all bt'";
  return text;
}

}  // namespace hocket::communicator
