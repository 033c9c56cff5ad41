// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/timing/traced_call.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "platform/tracing/fast_clock.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {

using platform::TraceEngine;
using platform::TraceEvent;
using platform::TraceKind;
using platform::Tracer;

namespace {

// Shorter ones would fill the trace without being seen.
constexpr uint64_t kShortestIdleNs = 100;
constexpr uint64_t kShortestWorkNs = 50;
constexpr uint64_t kShortestPlanNs = 10'000;

constexpr uint32_t kHalf = 32;
constexpr uint64_t kLowerHalf = (uint64_t{1} << kHalf) - 1;

constexpr const char* kHocketNames[] = {
#define HOCKET_COLLECTIVE(constant, name, ...) #name,
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, ...) #name,
#include "base/collectives.def"
};
constexpr const char* kMpiNames[] = {
#define HOCKET_COLLECTIVE(constant, name, setting, function, ...) #function,
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, function, ...) #function,
#include "base/collectives.def"
};

// Relaxed: each value stands for itself.
std::atomic<uint64_t>& traced_as(const Participants& participants, uint32_t place) {
  return participants.group->member(place).block->traced_as;
}

// The same on all ranks: by the wire's number where there are several nodes, by the first rank's otherwise.
uint64_t number_of(const Participants& participants) {
  if (participants.span_nodes()) return participants.wire.unique_number - (uint64_t{1} << kHalf);
  const uint64_t first = traced_as(participants, 0).load(std::memory_order_relaxed);
  const auto track = static_cast<uint32_t>(first & kLowerHalf);
  if (track == 0) return 0;
  return uint64_t{platform::rank_of_track(track - 1)} << kHalf | first >> kHalf;
}

uint16_t name_of(const Participants& participants) {
  return participants.traced_name == nullptr ? uint16_t{0} : participants.traced_name->load(std::memory_order_relaxed);
}

// A thread that calls on it for the first time has told its track; another thread may be the next to call.
void tell_track(const Participants& participants, uint32_t track) {
  std::atomic<uint64_t>& mine = traced_as(participants, participants.group->rank());
  const uint64_t told = mine.load(std::memory_order_relaxed);
  const uint64_t now = (told & ~kLowerHalf) | (uint64_t{track} + 1);
  if (told != now) mine.store(now, std::memory_order_relaxed);
}

}  // namespace

const char* traced_name(schedule::Collective collective, Vocabulary vocabulary) {
  const auto index = static_cast<size_t>(collective);
  return vocabulary == Vocabulary::kMpi ? kMpiNames[index] : kHocketNames[index];
}

// What a child of fork() does in the midst of a call is not traced: it has no tracer.
void trace_started(const StartedCall& call) {
  Tracer* const tracer = Tracer::current();
  if (tracer == nullptr) return;
  TraceEvent event;
  event.kind = TraceKind::kStarted;
  event.began_ns = call.began_ns;
  event.ended_ns = platform::fast_now_ns();
  event.name = traced_name(call.arguments.collective, call.vocabulary);
  event.algorithm = call.algorithm;
  event.bytes = call.arguments.count * call.arguments.combiner.element_bytes;
  event.communicator = number_of(call.participants);
  event.communicator_name = name_of(call.participants);
  event.track = call.track;
  tracer->add_beside(event);
}

void announce_track(Participants& participants) {
  participants.traced_name = std::make_unique<std::atomic<uint16_t>>(0);
  // Relaxed: numbers order nothing.
  static std::atomic<uint64_t> made{0};
  const uint64_t number = made.fetch_add(1, std::memory_order_relaxed);
  const uint32_t track = Tracer::current()->track_of_thread(participants.rank);
  traced_as(participants, participants.group->rank())
      .store(number << kHalf | (uint64_t{track} + 1), std::memory_order_relaxed);
}

void name_in_trace(const Participants& participants, std::string_view name) {
  Tracer* const tracer = Tracer::current();
  if (tracer != nullptr && participants.traced_name != nullptr)
    participants.traced_name->store(tracer->number_of_name(name), std::memory_order_relaxed);
}

uint32_t TracedCall::late_track() const {
  const uint32_t place = facts_.participants.place_of(facts_.times.last_rank);
  const uint64_t told = traced_as(facts_.participants, place).load(std::memory_order_relaxed) & kLowerHalf;
  return told == 0 ? facts_.times.last_rank : static_cast<uint32_t>(told - 1);
}

TraceEvent TracedCall::call() const {
  const CallTimes& times = facts_.times;
  TraceEvent event;
  event.began_ns = times.began_ns;
  event.ended_ns = times.ended_ns;
  event.name = traced_name(times.collective, facts_.vocabulary);
  event.algorithm = times.algorithm;
  event.bytes = times.bytes;
  event.number = times.number;
  event.communicator = number_of(facts_.participants);
  event.communicator_name = name_of(facts_.participants);
  if (schedule::has_root(times.collective)) event.root = times.root;
  event.kind = TraceKind::kCall;
  event.engine = !facts_.participants.span_nodes() ? TraceEngine::kSharedMemory
                 : facts_.prepared.runs_by_itself  ? TraceEngine::kEngine
                                                   : TraceEngine::kBetweenNodes;
  return event;
}

void TracedCall::add(TraceKind kind, const Interval& time, uint32_t other) {
  TraceEvent event;
  event.began_ns = time.from_ns;
  event.ended_ns = time.to_ns;
  event.kind = kind;
  event.other = other;
  events_[count_++] = event;
}

// The arrow, if any, comes from the late rank's beginning.
void TracedCall::add_idle(const Interval& idle) {
  const uint64_t came_ns = facts_.times.last_came_ns;
  const Interval before{idle.from_ns, std::clamp(came_ns, idle.from_ns, idle.to_ns)};
  const Interval after{before.to_ns, idle.to_ns};
  if (before.to_ns - before.from_ns >= kShortestIdleNs) {
    add(TraceKind::kWaitForRank, before, late_track_);
    events_[count_ - 1].bytes = before.to_ns == came_ns ? 1 : 0;
  }
  if (after.to_ns - after.from_ns >= kShortestIdleNs) add(TraceKind::kWaitForData, after);
}

void TracedCall::trace() {
  Tracer* const tracer = Tracer::current();
  if (tracer == nullptr) return;  // see trace_started()
  tell_track(facts_.participants, tracer->track_of_thread(facts_.times.rank));
  late_track_ = late_track();
  events_[0] = call();
  const CallTimes& times = facts_.times;
  if (facts_.first_look_ns - times.began_ns >= kShortestPlanNs)
    add(TraceKind::kPlan, {times.began_ns, facts_.first_look_ns});
  auto work = facts_.work.begin();
  const auto add_work_before = [&](uint64_t until_ns) {
    for (; work != facts_.work.end() && work->time.from_ns < until_ns; ++work)
      if (work->time.to_ns - work->time.from_ns >= kShortestWorkNs)
        add(work->reduces ? TraceKind::kReduce : TraceKind::kMove, work->time);
  };
  for (const Interval& idle : facts_.idle) {
    add_work_before(idle.from_ns);
    add_idle(idle);
  }
  add_work_before(times.ended_ns);
  tracer->add({events_, count_});
}

}  // namespace hocket::communicator
