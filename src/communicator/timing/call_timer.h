// SPDX-License-Identifier: BSD-3-Clause
// Times one blocking call of a rank: tells the node's ranks when it came, notes when it had nothing to do, and looks at
// the end which rank came last. While calls are traced it also hears of each step that took time, and traces the call.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "communicator/calls/call.h"
#include "communicator/participants.h"
#include "communicator/timing/call_times.h"
#include "communicator/timing/traced_call.h"
#include "engines/shared_memory/memory_transport.h"
#include "platform/tracing/fast_clock.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {

class CallTimer final : private engines::StepWatch {
 public:
  // The rank comes to the call that it announces next on this lane. All outlive the timer. `name`: for a trace.
  CallTimer(const Participants& participants, engines::shared_memory::MemoryTransport& lane, const char* name);

  ~CallTimer() {
    if (open_ != nullptr) open_->leave();
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  // Who is to hear of the call's steps; nullptr: nobody.
  engines::StepWatch* watch() { return is_traced_ ? this : nullptr; }
  // Around each look at what can be done. `moved`: something was.
  void look_begins() {
    looked_ns_ = platform::fast_now_ns();
    has_worked_ = false;
  }
  void look_ends(bool moved) {
    if (!moved && !has_worked_ && idle_since_ns_ != 0) return;
    const uint64_t now_ns = platform::fast_now_ns();
    if (idle_since_ns_ != 0)
      note_idle({idle_since_ns_, looked_ns_});
    else
      first_look_ns_ = looked_ns_;
    idle_since_ns_ = now_ns;
  }
  // It has failed: whoever was asked to write the trace, or is, finds the call in it.
  void note_failure() {
    if (open_ != nullptr) std::exchange(open_, nullptr)->fail();
  }
  // The call is done.
  void end(const Prepared& prepared, Vocabulary vocabulary);

 private:
  // Of a call that has more, the first are told apart.
  static constexpr size_t kMostIntervals = TracedCall::kMostIdle;
  // Steps that follow each other so closely are one slice.
  static constexpr uint64_t kCloseNs = 300;

  void did(schedule::StepKind kind, uint64_t from_ns, uint64_t to_ns) override;
  void note_idle(const Interval& idle);
  void find_last(CallTimes& times);

  const Participants& participants_;
  engines::shared_memory::MemoryTransport& lane_;
  const bool is_traced_;
  uint64_t began_ns_;
  platform::OpenCall* open_ = nullptr;
  uint64_t first_look_ns_ = 0;
  uint64_t looked_ns_ = 0;
  uint64_t idle_since_ns_ = 0;  // 0: it hasn't been idle
  bool has_worked_ = false;     // since the look began
  std::array<Interval, kMostIntervals> idle_;
  size_t intervals_ = 0;
  uint64_t idle_ns_ = 0;
  std::array<Work, TracedCall::kMostWork> work_;
  size_t works_ = 0;
};

// A call is watched as long as this is there.
class Watched {
 public:
  Watched(Call& call, engines::StepWatch* watch) : call_(call) { call_.be_watched_by(watch); }
  ~Watched() { call_.be_watched_by(nullptr); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Call& call_;
};

}  // namespace hocket::communicator
