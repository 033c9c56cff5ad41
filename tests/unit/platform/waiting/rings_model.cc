// SPDX-License-Identifier: BSD-3-Clause
// Waits in a library: ranks ask to be rung before they sleep, and poll once more; a rank that has acted rings those
// that want it, as WakeBoard and RingListener do, each at most every 0.2 ms. No poll moves anything but what ends the
// wait.
#include <utility>

#include "platform/waiting/ranks_world.h"

namespace hocket::platform::model {

bool World::is_wanted(uint32_t id) {
  if (!scenario_.in_library) return false;
  Rank& rank = *ranks_[id];
  if (std::exchange(rank.seen, rings_[id]) != rings_[id]) rank.awake.rung(kernel_.now_ns(), 0);
  return !rank.awake.is_over(kernel_.now_ns());
}

void World::sleep_in_library(uint32_t id) {
  ranks_[id]->wants_rings ? next(id, Op::kPark, kParkNs) : next(id, Op::kAnnounce, kObserveNs);
}

void World::want_rings(uint32_t id) {
  ranks_[id]->wants_rings = true;
  ++sleepers_;
  if (scenario_.mutation == Mutation::kNoSecondLook) return sleep_in_library(id);
  next(id, Op::kLook, kLibraryLookNs);
}

void World::withdraw_rings(uint32_t id) {
  ranks_[id]->wants_rings = false;
  --sleepers_;
}

// From the rank `wakes` on.
void World::ring_next(uint32_t id) {
  Rank& rank = *ranks_[id];
  const auto may_ring = [&](uint32_t peer) {
    return peer != id && kernel_.now_ns() - rung_ns_[id * scenario_.ranks + peer] >= WakeBoard::kBetweenRingsNs;
  };
  while (rank.wakes < scenario_.ranks && !may_ring(rank.wakes)) ++rank.wakes;
  if (rank.wakes == scenario_.ranks) return next(id, Op::kLook, kLibraryLookNs);
  rung_ns_[id * scenario_.ranks + rank.wakes] = kernel_.now_ns();
  ++rings_[rank.wakes];
  next(id, Op::kWake, kWakeNs);
}

}  // namespace hocket::platform::model
