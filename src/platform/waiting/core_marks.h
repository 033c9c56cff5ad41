// SPDX-License-Identifier: BSD-3-Clause
// On which core each rank of a node waited last, for ranks that may be many and share no communicator: a table by core,
// in shared memory, in which each rank marks the core that it is on. A rank that finds another's mark where it put its
// own shares that core.
//
// Thread safety: any thread. Relaxed, all: guesses are enough.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/whereabouts/record.h"

namespace hocket::platform {

class CoreMarks {
 public:
  // `own`: the rank, unlike the others'.
  CoreMarks(CoreTable& table, uint32_t own) : table_(table), mark_(static_cast<uint16_t>(own + 1)) {}

  // The rank is on this core; -1: on none any more.
  void come_to(int core) {
    const int before = marked_.load(std::memory_order_relaxed);
    if (before >= 0 && before != core && entry(before).load(std::memory_order_relaxed) == mark_)
      entry(before).store(0, std::memory_order_relaxed);
    if (before != core) marked_.store(core, std::memory_order_relaxed);
    if (core >= 0 && entry(core).load(std::memory_order_relaxed) != mark_)
      entry(core).store(mark_, std::memory_order_relaxed);
  }
  // Whether another rank has marked it, perhaps long ago.
  bool has_peer_on(int core) const {
    const uint16_t mark = entry(core).load(std::memory_order_relaxed);
    return mark != 0 && mark != mark_;
  }
  // Whether another rank has marked it since this one came to it. Marks it.
  bool finds_peer_on(int core) {
    if (core < 0) return false;
    const bool has_peer = core == marked_.load(std::memory_order_relaxed) && has_peer_on(core);
    come_to(core);
    return has_peer;
  }

 private:
  std::atomic<uint16_t>& entry(int core) const { return table_.ranks[static_cast<uint32_t>(core) % CoreTable::kCores]; }

  CoreTable& table_;
  const uint16_t mark_;
  std::atomic<int> marked_{-1};
};

}  // namespace hocket::platform
