// SPDX-License-Identifier: BSD-3-Clause
// Times one blocking call of a rank: tells the node's ranks when it came, notes when it had nothing to do, and looks at
// the end which rank came last.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "communicator/calls/planner.h"
#include "communicator/participants.h"
#include "communicator/timing/call_times.h"
#include "engines/shared_memory/memory_transport.h"

namespace hocket::communicator {

class CallTimer {
 public:
  struct Interval {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
  };

  // The rank comes to the call that it announces next on this lane. Both outlive the timer.
  CallTimer(const Participants& participants, engines::shared_memory::MemoryTransport& lane);

  // Around each look at what can be done. `moved`: something was.
  void look_begins() { looked_ns_ = now_ns(); }
  void look_ends(bool moved) {
    if (!moved && idle_since_ns_ != 0) return;
    const uint64_t now = now_ns();
    if (idle_since_ns_ != 0) note_idle({idle_since_ns_, looked_ns_});
    idle_since_ns_ = now;
  }
  // The call is done.
  void end(const Prepared& prepared);

 private:
  // More are joined: what lies between the last ones counts as idle, too.
  static constexpr size_t kMostIntervals = 16;

  void note_idle(const Interval& idle);
  void find_last(CallTimes& times) const;

  const Participants& participants_;
  engines::shared_memory::MemoryTransport& lane_;
  uint64_t began_ns_;
  uint64_t looked_ns_ = 0;
  uint64_t idle_since_ns_ = 0;  // 0: it hasn't been idle
  std::array<Interval, kMostIntervals> idle_;
  size_t intervals_ = 0;
};

}  // namespace hocket::communicator
