// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a benchmark wait for each other: a counter in memory that all of them map. It belongs to neither
// side of a comparison, and lets its ranks go more evenly than a library's barrier does when cores are short; how
// unevenly they begin would be counted as the time of what is measured.
//
// Thread safety: one thread of each rank.
#pragma once

#include <atomic>
#include <cstdint>

namespace hocket::bench {

class MeetingPoint {
 public:
  // Returns once that many ranks have come. `look` is called between looks; what ranks wrote before is seen by all
  // after.
  template <typename Look>
  void meet(uint32_t ranks, const Look& look) {
    const uint32_t round = round_.load(std::memory_order_relaxed);
    // Acquire and release: what ranks wrote before is seen by the last one, which passes it on through `round`.
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
      // Relaxed: no rank looks at it before the store to `round` below, which orders it.
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    // Acquire: pairs with the last rank's release.
    while (round_.load(std::memory_order_acquire) == round) look();
  }

 private:
  // Ranks that have come in the current round; the last one sets it back and opens the next round.
  alignas(64) std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
};

}  // namespace hocket::bench
