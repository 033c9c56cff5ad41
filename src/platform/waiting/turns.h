// SPDX-License-Identifier: BSD-3-Clause
// What ranks that share cores last did with them: a rank that gets its core back late learns whether another rank of
// the job had it, whose work must be done anyway, or a foreign program.
//
// Thread safety: a rank tells of its own turns only; all may look at any time. A reader may see half of a turn that is
// being written, which makes for a wrong guess and nothing worse.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace hocket::platform {

// In shared memory, one of each rank; zeros before its first.
struct alignas(64) Turn {
  std::atomic<int64_t> begin_ns;
  std::atomic<int64_t> end_ns;
  std::atomic<int32_t> core;
};

class Turns {
 public:
  Turns(std::vector<Turn*> all, uint32_t own) : all_(std::move(all)), own_(own) {}

  // The calling rank had the core that it still has, from `begin_ns` to `end_ns`. A rank that yields the core and gets
  // it back at once continues its turn. Relaxed, all: guesses are enough.
  void report(int64_t begin_ns, int64_t end_ns) const {
    Turn& mine = *all_[own_];
    const int core = sched_getcpu();
    const bool goes_on = core == mine.core.load(std::memory_order_relaxed) &&
                         begin_ns - mine.end_ns.load(std::memory_order_relaxed) < kAtOnceNs;
    mine.core.store(core, std::memory_order_relaxed);
    if (!goes_on) mine.begin_ns.store(begin_ns, std::memory_order_relaxed);
    mine.end_ns.store(end_ns, std::memory_order_relaxed);
  }

  // For how much of the time in between the last turns of the others had the calling rank's core.
  int64_t of_others_ns(int64_t begin_ns, int64_t end_ns) const {
    const int core = sched_getcpu();
    if (core < 0) return 0;  // nothing is known
    int64_t sum = 0;
    for (uint32_t rank = 0; rank < all_.size(); ++rank) {
      const Turn& turn = *all_[rank];
      if (rank == own_ || turn.core.load(std::memory_order_relaxed) != core) continue;
      const int64_t from = std::max(begin_ns, turn.begin_ns.load(std::memory_order_relaxed));
      const int64_t to = std::min(end_ns, turn.end_ns.load(std::memory_order_relaxed));
      if (from < to) sum += to - from;
    }
    return sum;
  }

 private:
  static constexpr int64_t kAtOnceNs = 20'000;

  std::vector<Turn*> all_;
  uint32_t own_;
};

}  // namespace hocket::platform
