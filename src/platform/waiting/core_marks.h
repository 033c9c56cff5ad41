// SPDX-License-Identifier: BSD-3-Clause
// Which rank of a node last marked each core, for ranks without a common communicator. A rank that finds another rank's
// mark where it left its own shares that core.
//
// A process has one mark: where several of its threads wait on different cores, some go unnoticed. Waits in collectives
// are not marked; peers see these by Turns.
//
// Thread safety: any thread. All accesses are relaxed: a stale mark costs one move or yield.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/whereabouts/record.h"

namespace hocket::platform {

class CoreMarks {
 public:
  // `own`: this rank's index on the node.
  CoreMarks(CoreTable& table, uint32_t own) : table_(table), mark_(static_cast<uint16_t>(own + 1)) {}

  // Moves this rank's mark to `core`; -1: removes it.
  void mark(int core) {
    const int before = marked_.load(std::memory_order_relaxed);
    if (before >= 0 && before != core && entry(before).load(std::memory_order_relaxed) == mark_)
      entry(before).store(0, std::memory_order_relaxed);
    if (before != core) marked_.store(core, std::memory_order_relaxed);
    if (core >= 0 && entry(core).load(std::memory_order_relaxed) != mark_)
      entry(core).store(mark_, std::memory_order_relaxed);
  }
  // Whether another rank's mark is on `core`, however old.
  bool has_peer_on(int core) const {
    const uint16_t mark = entry(core).load(std::memory_order_relaxed);
    return mark != 0 && mark != mark_;
  }
  // Marks `core`, and returns true if another rank has marked it since this rank did.
  bool finds_peer_on(int core) {
    if (core < 0) return false;
    const bool has_peer = core == marked_.load(std::memory_order_relaxed) && has_peer_on(core);
    mark(core);
    return has_peer;
  }

 private:
  std::atomic<uint16_t>& entry(int core) const { return table_.marks[static_cast<uint32_t>(core) % CoreTable::kCores]; }

  CoreTable& table_;
  const uint16_t mark_;
  std::atomic<int> marked_{-1};  // by whichever thread of this process waited last
};

}  // namespace hocket::platform
