// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/timing/call_timer.h"

#include <algorithm>
#include <utility>

#include "algorithms/algorithm.h"
#include "communicator/timing/call_counters.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {
namespace {

// Of a thread; not taken yet if it has a number.
thread_local CallTimes last_call __attribute__((tls_model("initial-exec")));

bool is_work(schedule::StepKind kind) {
  return kind != schedule::StepKind::kAdd && kind != schedule::StepKind::kWaitUntil;
}

bool reduces(schedule::StepKind kind) {
  using schedule::StepKind;
  return kind == StepKind::kCombine || kind == StepKind::kCombineFrom || kind == StepKind::kReceiveCombine;
}

}  // namespace

bool take_last_call(CallTimes& times) {
  if (last_call.number == 0) return false;
  times = last_call;
  last_call.number = 0;
  return true;
}

CallTimer::CallTimer(const Participants& participants, engines::shared_memory::MemoryTransport& lane, const char* name)
    : participants_(participants), lane_(lane), is_traced_(platform::is_traced()), began_ns_(platform::fast_now_ns()) {
  lane_.note_arrival(began_ns_);
  if (!is_traced_) return;
  platform::Tracer& tracer = *platform::Tracer::current();
  tracer.track_of_thread(participants.rank);
  open_ = tracer.enter(name, began_ns_);
}

void CallTimer::note_idle(const Interval& idle) {
  if (idle.to_ns <= idle.from_ns) return;
  idle_ns_ += idle.to_ns - idle.from_ns;
  if (intervals_ != kMostIntervals) idle_[intervals_++] = idle;
}

void CallTimer::did(schedule::StepKind kind, uint64_t from_ns, uint64_t to_ns) {
  if (!is_work(kind)) return;
  has_worked_ = true;
  const Work work{{from_ns, to_ns}, reduces(kind)};
  if (works_ != 0) {
    Work& last = work_[works_ - 1];
    if (last.reduces == work.reduces && from_ns - last.time.to_ns < kCloseNs) {
      last.time.to_ns = to_ns;
      return;
    }
  }
  if (works_ != work_.size()) work_[works_++] = work;
}

// A rank that comes after this one's end was not waited for.
void CallTimer::find_last(CallTimes& times) {
  times.last_came_ns = times.began_ns;
  times.last_rank = participants_.rank;
  for (uint32_t place = 0; place < participants_.ranks_here(); ++place) {
    const uint64_t came_ns = lane_.arrival_of(place, times.number);
    if (came_ns <= times.last_came_ns || came_ns > times.ended_ns) continue;
    times.last_came_ns = came_ns;
    times.last_rank = participants_.rank_at(place);
  }
}

void CallTimer::end(const Prepared& prepared, Vocabulary vocabulary) {
  const CallShape& shape = prepared.shape;
  CallTimes times;
  times.collective = shape.collective;
  times.rank = participants_.rank;
  times.size = participants_.size;
  times.number = lane_.announced();
  times.bytes = (shape.row != 0 ? shape.row : shape.count) * shape.element_bytes;
  times.root = shape.root;
  // The names of algorithms are literals.
  if (prepared.choice.algorithm != nullptr) times.algorithm = prepared.choice.algorithm->name.data();
  times.began_ns = began_ns_;
  times.ended_ns = idle_since_ns_;  // of the last look
  times.idle_ns = idle_ns_;
  find_last(times);
  for (size_t i = 0; i < intervals_; ++i) {
    const Interval& idle = idle_[i];
    const uint64_t until_ns = std::min(idle.to_ns, times.last_came_ns);
    if (until_ns > idle.from_ns) times.waited_for_late_ns += until_ns - idle.from_ns;
  }
  last_call = times;
  if (calls_are_timed_for(TimesFor::kCounters)) count_call(times);
  if (!is_traced_) return;
  TracedCall({.times = times,
              .first_look_ns = first_look_ns_,
              .idle = {idle_.data(), intervals_},
              .work = {work_.data(), works_},
              .prepared = prepared,
              .participants = participants_,
              .vocabulary = vocabulary})
      .trace();
}

}  // namespace hocket::communicator
