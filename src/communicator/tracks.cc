// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/tracks.h"

#include <utility>

#include "base/assertion.h"

namespace hocket::communicator {

using engines::shared_memory::MemoryTransport;
using engines::wire::Channel;

std::unique_ptr<Channel> Tracks::make_channel(const Participants& participants, uint32_t index) {
  const WirePart& wire = participants.wire;
  return std::make_unique<Channel>(*wire.wire, wire.tags_of(index), participants.rank, wire.addresses);
}

Track& Tracks::make(uint32_t index, std::unique_ptr<MemoryTransport> lane, std::unique_ptr<Channel> channel) {
  HOCKET_ASSERT(index < kMost && tracks_[index] == nullptr, "each track is made once");
  if (channel == nullptr) {
    tracks_[index] = std::make_unique<Track>(std::move(lane));
  } else {
    std::vector<engines::Carrier*> carriers = engines_.carriers(index, *channel);
    tracks_[index] = std::make_unique<Track>(std::move(lane), std::move(channel), std::move(carriers));
  }
  return *tracks_[index];
}

Result<Track*> Tracks::open(uint32_t index) {
  HOCKET_ASSERT(index < kMost, "a communicator has at most kMost tracks");
  if (tracks_[index] != nullptr) return tracks_[index].get();
  Result<std::unique_ptr<MemoryTransport>> lane = MemoryTransport::create(*participants_.group, index);
  if (!lane.is_ok()) return lane.take_status();
  return &make(index, lane.take(), participants_.span_nodes() ? make_channel(participants_, index) : nullptr);
}

Status Tracks::check() {
  for (auto& track : tracks_)
    if (track != nullptr) HOCKET_TRY(track->check());
  return Status::ok();
}

}  // namespace hocket::communicator
