// SPDX-License-Identifier: BSD-3-Clause
// The ranks of one group and where their memory is mapped here; waking and being woken.
//
// Thread safety: one thread at a time, that of the rank's communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assertion.h"
#include "engines/shared_memory/common_memory.h"
#include "engines/shared_memory/layout.h"
#include "platform/memory/shared_region.h"

namespace hocket::engines::shared_memory {

struct Member {
  RankBlock* block = nullptr;
  platform::Window window;                   // what is mapped of the region that offsets in its lines refer to
  int process = 0;                           // for reading its memory, where that is in use
  uint32_t name = 0;                         // its rank in the communicator, for reports
  platform::MappedRegion* region = nullptr;  // maps more of it; nullptr: all is there
};

class NodeGroup {
 public:
  // `asymmetric`: all members have registered for the asymmetric barrier.
  NodeGroup(uint32_t rank, std::vector<Member> members, std::shared_ptr<platform::SharedRegion> region, bool asymmetric)
      : rank_(rank),
        members_(std::move(members)),
        region_(std::move(region)),
        asymmetric_(asymmetric),
        common_memory_(*this) {
    HOCKET_ASSERT(rank_ < members_.size(), "a group's own rank is one of its members");
  }

  uint32_t rank() const { return rank_; }
  uint32_t name_of(uint32_t rank) const { return member(rank).name; }
  uint32_t size() const { return static_cast<uint32_t>(members_.size()); }
  const Member& member(uint32_t rank) const {
    HOCKET_ASSERT(rank < members_.size(), "a rank of a group is below its size");
    return members_[rank];
  }
  platform::SharedRegion& region() const { return *region_; }
  // So that what lies before `end` in a member's region is in its window.
  Status reach(uint32_t rank, uint64_t end);
  CommonMemory& common_memory() { return common_memory_; }
  // Whether members may read each other's memory by process_vm_readv. To be allowed on all of them alike, before the
  // first call, when all have found that it works and is faster than copying.
  bool cross_memory() const { return cross_memory_; }
  void allow_cross_memory() { cross_memory_ = true; }

  // After something was written that `rank` may wait for.
  void wake(uint32_t rank) {
    platform::waker_barrier(asymmetric_);
    // Pairs with announce_sleep(): either we see the sleeper or it sees what we wrote.
    if (root().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      wake_sleeper(rank);
    }
  }
  // To be called after writing something that a rank may wait for that has announced `what`, or that waits for
  // anything.
  void wake_all(uint32_t what) {
    platform::waker_barrier(asymmetric_);
    // Pairs with announce_sleep(), as above.
    if (root().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_waiters(what);
  }

  // The sleeper's side: announce, look once more, then sleep or not, then withdraw. `awaits`: see RankBlock.
  void announce_sleep(uint32_t awaits);
  bool sleep(int64_t timeout_ns) { return platform::park(members_[rank_].block->parking, timeout_ns); }
  void withdraw_sleep();
  // Where this rank sleeps.
  const platform::ParkingPlace& own_parking() const { return members_[rank_].block->parking; }

  // A group that has lost a member, or of whose communicator a rank elsewhere has failed, is broken for all of them.
  void report_broken(uint32_t name);
  // The same because ranks are in different calls, or are late: `reason`, which all get to know, says so. `kind`:
  // RankBlock::kMismatch or kLate.
  void report_reason(uint32_t kind, std::string_view reason);
  // What was reported so; "": nothing.
  std::string reason() const;
  // True for one of the ranks that are about to say who is late for a call of a lane, and only once. `what`: a number
  // of what it has to say. What was said last is said again only after twice as many `limits` each time.
  bool may_tell_late(uint32_t lane, uint64_t call, uint64_t what, int64_t limits);
  // 1 + the name of the rank that failed, or RankBlock::kMismatch or kLate, or 0. Acquire: pairs with the release in
  // report_broken(), which a reason comes before.
  uint32_t broken() const { return root().broken.load(std::memory_order_acquire); }

 private:
  RankBlock& root() const { return *members_[0].block; }
  // Wakes `rank` if it sleeps, and publishes on which core it has been woken, as the kernel may put it there.
  void wake_sleeper(uint32_t rank);
  void wake_waiters(uint32_t what);

  uint32_t rank_;
  std::vector<Member> members_;
  std::shared_ptr<platform::SharedRegion> region_;
  bool asymmetric_;
  bool cross_memory_ = false;
  CommonMemory common_memory_;
};

}  // namespace hocket::engines::shared_memory
