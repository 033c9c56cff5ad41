// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/timing/trace.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"

namespace hocket::c_api {

using platform::TraceEvent;
using platform::TraceKind;
using platform::Tracer;

namespace {

// Shorter ones would fill the trace without being seen.
constexpr uint64_t kShortestNs = 10'000;

void trace(TraceEvent event, OpenCall* open) {
  if (open != nullptr) open->leave();
  event.ended_ns = trace_now_ns();
  Tracer* const tracer = Tracer::current();
  if (tracer != nullptr && event.ended_ns - event.began_ns >= kShortestNs) tracer->add(event);
}

}  // namespace

Status begin_trace(Status& problem) { return Tracer::begin(problem); }

void set_trace_job(const TraceJob& job) {
  if (Tracer* const tracer = Tracer::current(); tracer != nullptr) tracer->set_job(job);
}

uint64_t new_trace_job() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = now_ns() ^ static_cast<uint64_t>(getpid()) << 40;
  return number | 1;
}

void end_trace() {
  if (Tracer* const tracer = Tracer::current(); tracer != nullptr) tracer->write_at_end();
}

void write_asked_trace() {
  if (Tracer* const tracer = Tracer::current(); tracer != nullptr) tracer->write_asked();
}

OpenCall* trace_open(const char* name, uint64_t began_ns) {
  Tracer* const tracer = Tracer::current();
  return tracer != nullptr ? tracer->enter(name, began_ns) : nullptr;
}

void trace_passed(const char* name, uint64_t began_ns, OpenCall* open) {
  TraceEvent event;
  event.kind = TraceKind::kPassed;
  event.name = name;
  event.began_ns = began_ns;
  trace(event, open);
}

void trace_function(const char* name, uint64_t began_ns, int peer, int tag, OpenCall* open) {
  TraceEvent event;
  event.kind = TraceKind::kMpiWait;
  event.name = name;
  event.began_ns = began_ns;
  if (peer >= 0) event.other = static_cast<uint32_t>(peer);
  if (peer != kNoPeer && tag >= 0) event.number = static_cast<uint64_t>(tag) + 1;
  trace(event, open);
}

}  // namespace hocket::c_api
