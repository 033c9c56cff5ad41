// SPDX-License-Identifier: BSD-3-Clause
// Events as lines of the trace event format, which Perfetto and chrome://tracing open. The format is that of "Trace
// Event Format" (the Chromium project): X is a slice, s and f are the ends of an arrow, M names tracks.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "platform/tracing/trace_event.h"

namespace hocket::platform {

// Of the process that writes.
struct TraceOrigin {
  uint32_t node = 0;      // what stands for a process in the format is a node here
  int64_t offset_ns = 0;  // added to its times, so that all nodes' are on one clock, from the file's base on
  std::span<const std::string> communicator_names = {};  // by TraceEvent::communicator_name, from 1 on
};

// Tracks of a rank's further threads lie this far apart.
inline constexpr uint32_t kTracksApart = 10'000'000;
inline uint32_t rank_of_track(uint32_t track) { return track % kTracksApart; }
// What the file says instead: viewers take a thread 0 for the system's idle one.
inline uint32_t thread_of_track(uint32_t track) { return track + 1; }

// Each line ends with ",\n". `number`: the event's own, which tells arrows apart.
void append_event(std::string& text, const TraceEvent& event, uint64_t number, const TraceOrigin& origin);
// "rank 3", "rank 3, thread 2".
void append_track_name(std::string& text, uint32_t track, const TraceOrigin& origin);
void append_node_name(std::string& text, std::string_view host, const TraceOrigin& origin);
// `dropped` events of the track came before this time.
void append_dropped(std::string& text, uint64_t dropped, uint64_t at_ns, uint32_t track, const TraceOrigin& origin);

}  // namespace hocket::platform
