// SPDX-License-Identifier: BSD-3-Clause
// What is known of the times of a blocking call when it is over: how long this rank was in it, which rank came to it
// last, and when. Nothing is timed unless somebody wants it: a call then looks at one variable.
//
// Only ranks of the own node are looked at: no other's clock can be read. One that comes late on another node shows as
// time that a call takes after the last rank of this node has come.
//
// Thread safety: any thread; times are the thread's that has made the call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "schedule/collective.h"

namespace hocket::communicator {

struct CallTimes {
  schedule::Collective collective = schedule::Collective::kBarrier;
  uint32_t rank = 0;    // this one, in the communicator
  uint32_t size = 0;    // of the communicator
  uint64_t number = 0;  // of the communicator's blocking calls, from 1
  uint64_t bytes = 0;   // of the message; of a block, where there is one a rank; of all blocks, where they differ and
                        // all ranks see them
  uint32_t root = 0;    // among neighbours, the number of the neighbourhood
  const char* algorithm = "";  // as tables name it; lives as long as the process
  // On the clock of base/clock.h.
  uint64_t began_ns = 0;
  uint64_t ended_ns = 0;
  // When the last rank of the node came that had come when the call ended here, this one included, and which it is in
  // the communicator: its own number where this rank was the last, or is alone.
  uint64_t last_came_ns = 0;
  uint32_t last_rank = 0;
  // How long this rank had nothing to do, and how much of that lay before the last rank came.
  uint64_t idle_ns = 0;
  uint64_t waited_for_late_ns = 0;

  // Whether another rank came after this one.
  bool has_waited() const { return last_came_ns > began_ns && waited_for_late_ns != 0; }
};

// Who wants calls timed.
enum class TimesFor : uint32_t { kCaller = 1, kTrace = 2, kCounters = 4 };

// Relaxed, all: it is set before calls that are to be timed, and a call that misses it is not timed.
inline std::atomic<uint32_t> times_wanted{0};
inline bool calls_are_timed() { return times_wanted.load(std::memory_order_relaxed) != 0; }
inline bool calls_are_timed_for(TimesFor whom) {
  return (times_wanted.load(std::memory_order_relaxed) & static_cast<uint32_t>(whom)) != 0;
}
inline void time_calls(TimesFor whom, bool on) {
  const auto bit = static_cast<uint32_t>(whom);
  if (on)
    times_wanted.fetch_or(bit, std::memory_order_relaxed);
  else
    times_wanted.fetch_and(~bit, std::memory_order_relaxed);
}

// Those of this thread's last blocking call that was carried out. False: there is none since it was last asked.
bool take_last_call(CallTimes& times);

}  // namespace hocket::communicator
