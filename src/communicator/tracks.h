// SPDX-License-Identifier: BSD-3-Clause
// A communicator's tracks. The first serves blocking calls; the others, made when they are first needed, serve
// non-blocking calls by turns.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "base/assertion.h"
#include "carriers/engines.h"
#include "communicator/participants.h"
#include "communicator/track.h"

namespace hocket::communicator {

class Tracks {
 public:
  static constexpr uint32_t kMost = engines::shared_memory::kLanes;
  // All outlive the tracks.
  Tracks(const Participants& participants, carriers::Engines& engines)
      : participants_(participants), engines_(engines) {}

  // The channel of track `index`, of a communicator of several nodes.
  static std::unique_ptr<engines::wire::Channel> make_channel(const Participants& participants, uint32_t index);
  // Makes track `index` of parts that exist already; `channel`: nullptr within a node.
  Track& make(uint32_t index, std::unique_ptr<engines::shared_memory::MemoryTransport> lane,
              std::unique_ptr<engines::wire::Channel> channel);
  // Track `index`, made if it doesn't exist. Fails when there is no memory for it.
  Result<Track*> open(uint32_t index);

  Track& first() {
    HOCKET_ASSERT(tracks_[0] != nullptr, "the first track is there from set-up to the end");
    return *tracks_[0];
  }
  const Track& first() const {
    HOCKET_ASSERT(tracks_[0] != nullptr, "the first track is there from set-up to the end");
    return *tracks_[0];
  }
  // nullptr: it has not been needed yet.
  Track* find(uint32_t index) {
    HOCKET_ASSERT(index < kMost, "a communicator has at most kMost tracks");
    return tracks_[index].get();
  }
  const Track* find(uint32_t index) const {
    HOCKET_ASSERT(index < kMost, "a communicator has at most kMost tracks");
    return tracks_[index].get();
  }

  template <typename Body>
  void for_each(const Body& body) {
    for (auto& track : tracks_)
      if (track != nullptr) body(*track);
  }
  // Whether something is pending whose arrival no wake-up in shared memory reports.
  bool must_poll() const {
    return std::any_of(tracks_.begin(), tracks_.end(),
                       [](const auto& track) { return track != nullptr && track->must_poll(); });
  }
  Status check();
  // All of them go; nothing may be under way.
  void drop() {
    for (auto& track : tracks_) track.reset();
  }

 private:
  const Participants& participants_;
  carriers::Engines& engines_;
  std::array<std::unique_ptr<Track>, kMost> tracks_;
};

}  // namespace hocket::communicator
