// SPDX-License-Identifier: BSD-3-Clause
// How the relay learns of packets that come. If each packet woke the relay, its sender would lose its core, and with it
// its turn among the ranks, since the relay takes precedence over all of them: no network does that. Packets say when
// they came; so while they keep coming, the relay looks after them by the clock, in time for the first that might be
// due.
//
// Thread safety: one thread. Time is the caller's, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hocket::lab {

class Watch {
 public:
  // To be called for a packet that is to be held for this long after its arrival.
  void found(uint64_t held_ns, uint64_t now_ns) {
    shortest_ns_ = std::min(shortest_ns_, held_ns);
    found_ns_ = now_ns;
  }
  // A relay that has just looked need not look again before this time and need not be woken; 0: it has to be woken.
  uint64_t next_ns(uint64_t now_ns) {
    if (shortest_ns_ == UINT64_MAX) return 0;
    if (now_ns - found_ns_ > kQuietNs) shortest_ns_ = UINT64_MAX;
    return shortest_ns_ == UINT64_MAX || shortest_ns_ < kLeastNs ? 0 : now_ns + shortest_ns_ - kAheadNs;
  }

  // How long it may find nothing until it sleeps and waits to be woken.
  static constexpr uint64_t kQuietNs = 20'000'000;
  // What is held for less is not worth it: it would look as often as it is woken.
  static constexpr uint64_t kLeastNs = 100'000;
  // What it takes to wake up and to look.
  static constexpr uint64_t kAheadNs = 20'000;

 private:
  uint64_t shortest_ns_ = UINT64_MAX;  // of those that keep coming
  uint64_t found_ns_ = 0;
};

}  // namespace hocket::lab
