// SPDX-License-Identifier: BSD-3-Clause
// Where and when ranks last used the cores. Ranks that share cores publish their last turns: a rank that gets its core
// back late learns whether another rank of the job had it, whose work must be done anyway, or a foreign program.
// Ranks with a core each publish on which core they last waited or woke another rank: so they find out that the kernel
// has put two of them on one core.
//
// Thread safety: each rank writes its own record only; any rank may read any at any time. A reader may see half of a
// turn that is being written, which makes for a wrong guess and nothing worse.
#pragma once

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
  std::atomic<int32_t> last_on;  // 1 + the core on which the rank last waited or woke another; 0: unknown
  std::atomic<int64_t> woke_ns;  // when the rank last woke another

  // Written only when it changes, so that readers keep the line in their caches. Relaxed: a guess is enough.
  void come_to(int on) {
    if (last_on.load(std::memory_order_relaxed) != on + 1) last_on.store(on + 1, std::memory_order_relaxed);
  }
  // The rank is about to wake another: the kernel may put it on the same core.
  void wake_from(int on, int64_t now_ns) {
    come_to(on);
    woke_ns.store(now_ns, std::memory_order_relaxed);
  }
  bool was_on(int on) const { return last_on.load(std::memory_order_relaxed) == on + 1; }
};

class Turns {
 public:
  Turns(std::vector<Turn*> all, uint32_t own) : all_(std::move(all)), own_(own) {}

  // The calling rank had `core`, on which it still is, from `begin_ns` to `end_ns`. A rank that yields the core and
  // gets it back at once continues its turn. Relaxed, all: guesses are enough.
  void report(int core, int64_t begin_ns, int64_t end_ns) const {
    Turn& mine = *all_[own_];
    const bool goes_on = core == mine.core.load(std::memory_order_relaxed) &&
                         begin_ns - mine.end_ns.load(std::memory_order_relaxed) < kAtOnceNs;
    mine.core.store(core, std::memory_order_relaxed);
    if (!goes_on) mine.begin_ns.store(begin_ns, std::memory_order_relaxed);
    mine.end_ns.store(end_ns, std::memory_order_relaxed);
  }

  // For how much of the time in between the last turns of the others had this core.
  int64_t of_others_ns(int core, int64_t begin_ns, int64_t end_ns) const {
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

  // The calling rank is on this core.
  void come_to(int core) const { all_[own_]->come_to(core); }
  // When it last woke another; 0: never.
  int64_t woke_ns() const { return all_[own_]->woke_ns.load(std::memory_order_relaxed); }
  // Whether another rank was there last.
  bool has_peer_on(int core) const {
    for (uint32_t rank = 0; rank < all_.size(); ++rank)
      if (rank != own_ && all_[rank]->was_on(core)) return true;
    return false;
  }

 private:
  static constexpr int64_t kAtOnceNs = 200'000;  // shorter gaps are no long yields

  std::vector<Turn*> all_;
  uint32_t own_;
};

}  // namespace hocket::platform
