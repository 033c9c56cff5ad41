// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/group.h"

#include <sched.h>

#include "base/assertion.h"
#include "base/clock.h"

namespace hocket::engines::shared_memory {

Status NodeGroup::reach(uint32_t rank, uint64_t end) {
  HOCKET_ASSERT(rank < members_.size(), "a rank of a group is below its size");
  Member& member = members_[rank];
  if (member.region == nullptr) return Status::ok();
  Result<platform::Window> window = member.region->reach(end);
  if (!window.is_ok())
    return {window.status().code(), "rank " + std::to_string(name_of(rank_)) + " can't read what rank " +
                                        std::to_string(member.name) + " shares with it: " + window.status().message()};
  member.window = window.value();
  return Status::ok();
}

void NodeGroup::wake_sleeper(uint32_t rank) {
  platform::ParkingPlace& place = members_[rank].block->parking;
  // Relaxed: as in unpark().
  if (place.parked.load(std::memory_order_relaxed) == 0) return;
  members_[rank_].block->turn.wake_from(sched_getcpu(), static_cast<int64_t>(now_ns()));
  platform::wake(place);
}

void NodeGroup::wake_waiters(uint32_t what) {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    // Relaxed: written before `parked`. A value of an earlier sleep does no harm: a rank that announces a sleep
    // after we read `sleepers` looks once more before it sleeps.
    const uint32_t awaits = members_[rank].block->awaits.load(std::memory_order_relaxed);
    if (awaits == what || awaits == RankBlock::kAnything) wake_sleeper(rank);
  }
}

void NodeGroup::announce_sleep(uint32_t awaits) {
  RankBlock& mine = *members_[rank_].block;
  // Relaxed, both: ordered by the barrier below. Partner: wake_waiters().
  mine.awaits.store(awaits, std::memory_order_relaxed);
  mine.parking.parked.store(1, std::memory_order_relaxed);
  // Sequentially consistent, with the barrier below: pairs with the waker's barrier and its load of `sleepers`.
  root().sleepers.fetch_add(1, std::memory_order_seq_cst);
  platform::sleeper_barrier(asymmetric_);
}

void NodeGroup::withdraw_sleep() {
  HOCKET_ASSERT(root().sleepers.load(std::memory_order_relaxed) != 0, "who withdraws has announced its sleep");
  // Relaxed, both: what the waker wrote is seen through its own release; a waker that still finds a sleeper wakes
  // nobody.
  members_[rank_].block->parking.parked.store(0, std::memory_order_relaxed);
  root().sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void NodeGroup::report_broken(uint32_t name) {
  uint32_t expected = 0;
  // Release: pairs with the acquire in broken(). The first report stays.
  root().broken.compare_exchange_strong(expected, name + 1, std::memory_order_release, std::memory_order_relaxed);
  for (const Member& member : members_) platform::unpark(member.block->parking);
}

void NodeGroup::report_reason(uint32_t kind, std::string_view reason) {
  // Relaxed: which rank writes the sentence, and no more. A rank that finds it raised goes without, and all learn of
  // the first.
  if (root().reason_is_taken.exchange(1, std::memory_order_relaxed) != 0) return;
  const size_t length = reason.copy(root().reason, RankBlock::kReasonBytes - 1);
  root().reason[length] = 0;
  // Its release carries the sentence; pairs with the acquire in broken().
  report_broken(kind - 1);
}

bool NodeGroup::may_tell_late(uint32_t lane, uint64_t call, uint64_t what, int64_t limits) {
  constexpr uint64_t kMostDoublings = 10;
  RankBlock& common = root();
  // Relaxed, all: they order nothing.
  const uint64_t times =
      common.late_case.load(std::memory_order_relaxed) == what ? common.late_times.load(std::memory_order_relaxed) : 0;
  if (limits < int64_t{1} << std::min(times, kMostDoublings)) return false;
  std::atomic<uint64_t>& told = common.told_late[lane];
  uint64_t before = told.load(std::memory_order_relaxed);
  if (before >= call || !told.compare_exchange_strong(before, call, std::memory_order_relaxed)) return false;
  common.late_case.store(what, std::memory_order_relaxed);
  common.late_times.store(times + 1, std::memory_order_relaxed);
  return true;
}

std::string NodeGroup::reason() const { return broken() >= RankBlock::kLate ? root().reason : std::string(); }

}  // namespace hocket::engines::shared_memory
