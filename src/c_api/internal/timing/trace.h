// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what it adds to the trace of this process
// (docs/trace.md), which has hocket's own calls already.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "platform/tracing/fast_clock.h"
#include "platform/tracing/tracer.h"

namespace hocket::c_api {

using platform::OpenCall;
using platform::TraceJob;

// Whether calls are traced: one look at a variable.
inline bool is_traced() { return platform::is_traced(); }
// Before the first context, which would do it otherwise. The error is the setting's. Where the file can't be written,
// nothing is traced, and `problem` says why, which is then the caller's to tell.
Status begin_trace(Status& problem);
void set_trace_job(const TraceJob& job);
// Names jobs: another number each time.
uint64_t new_trace_job();
// What has not been written yet is written, if it is to be at the end.
void end_trace();
// What was asked for is written when this comes back: the process may be about to end. Not under locks.
void write_asked_trace();

inline uint64_t trace_now_ns() { return platform::fast_now_ns(); }
// The thread is in such a call from now on. nullptr: it is in one already.
OpenCall* trace_open(const char* name, uint64_t began_ns);
// A collective that was passed on to the MPI, or another function of it, in which this thread has been since then.
// Short ones are left out. The name lives as long as the process. A function that has no peer: kNoPeer.
inline constexpr int kNoPeer = -1'000'000;
void trace_passed(const char* name, uint64_t began_ns, OpenCall* open);
void trace_function(const char* name, uint64_t began_ns, int peer, int tag, OpenCall* open);

}  // namespace hocket::c_api
