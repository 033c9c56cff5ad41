// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/group.h"

namespace hocket::engines::shared_memory {

void Group::wake_everybody() {
  for (const Member& member : members_) platform::unpark(member.block->parking);
}

void Group::announce_sleep() {
  members_[rank_].block->parking.parked.store(1, std::memory_order_relaxed);
  // Sequentially consistent, with the barrier below: pairs with the waker's barrier and its load of `sleepers`.
  root().sleepers.fetch_add(1, std::memory_order_seq_cst);
  platform::sleeper_barrier(asymmetric_);
}

void Group::withdraw_sleep() {
  members_[rank_].block->parking.parked.store(0, std::memory_order_relaxed);
  root().sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void Group::report_broken(uint32_t rank) {
  uint32_t expected = 0;
  // Release: pairs with the acquire in broken(). The first report stays.
  root().broken.compare_exchange_strong(expected, rank + 1, std::memory_order_release, std::memory_order_relaxed);
  wake_everybody();
}

}  // namespace hocket::engines::shared_memory
