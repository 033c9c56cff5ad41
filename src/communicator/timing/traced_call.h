// SPDX-License-Identifier: BSD-3-Clause
// A call that is over as events of the trace: the call, and in it what the rank did, one behind the other.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "communicator/calls/arguments.h"
#include "communicator/calls/call_words.h"
#include "communicator/calls/planner.h"
#include "communicator/participants.h"
#include "communicator/timing/call_times.h"
#include "platform/tracing/trace_event.h"

namespace hocket::communicator {

// Not cleared: a call has room for many, and most need few.
struct Interval {
  uint64_t from_ns;
  uint64_t to_ns;
};

struct Work {
  Interval time;
  bool reduces;  // it moves otherwise
};

// "MPI_Bcast"; "broadcast". Lives as long as the process.
const char* traced_name(schedule::Collective collective, Vocabulary vocabulary);

// A non-blocking call that is over.
struct StartedCall {
  const Arguments& arguments;
  const Participants& participants;
  Vocabulary vocabulary;
  const char* algorithm;
  uint64_t began_ns;
  uint32_t track;  // of the thread that started it
};
void trace_started(const StartedCall& call);

// Ranks of the node learn by it whose track this rank's calls are on. Where a communicator is made.
void announce_track(Participants& participants);
// Its calls from now on are of a communicator that the program calls so. Of one whose track is announced; of others
// it does nothing.
void name_in_trace(const Participants& participants, std::string_view name);

class TracedCall {
 public:
  static constexpr size_t kMostIdle = 64;
  static constexpr size_t kMostWork = 96;
  struct Facts {
    const CallTimes& times;
    uint64_t first_look_ns;
    std::span<const Interval> idle;
    std::span<const Work> work;
    const Prepared& prepared;
    const Participants& participants;
    Vocabulary vocabulary;
  };
  explicit TracedCall(const Facts& facts) : facts_(facts) {}  // NOLINT: events are written as they are needed

  void trace();

 private:
  void add(platform::TraceKind kind, const Interval& time, uint32_t other = platform::TraceEvent::kNone);
  void add_idle(const Interval& idle);
  uint32_t late_track() const;
  platform::TraceEvent call() const;

  const Facts& facts_;
  uint32_t late_track_ = 0;
  // The call, its plan, and what is idle before and after the last rank has come.
  union {
    platform::TraceEvent events_[2 + 2 * kMostIdle + kMostWork];
  };
  size_t count_ = 1;
};

}  // namespace hocket::communicator
