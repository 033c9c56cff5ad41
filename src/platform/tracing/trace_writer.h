// SPDX-License-Identifier: BSD-3-Clause
// What of a process's trace is in the file, and how more comes to it: each event once, and each track's name.
//
// Thread safety: one thread at a time. Others add events meanwhile, and enter and leave calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/trace_setting.h"
#include "platform/tracing/trace_file.h"
#include "platform/tracing/trace_ring.h"
#include "platform/tracing/trace_text.h"

namespace hocket::platform {

// What an MPI's job knows: else the job is named after its first communicator, and clocks of nodes are not compared.
struct TraceJob {
  uint64_t job = 0;   // the same for all its processes, another for other jobs; 0: not known yet
  uint32_t rank = 0;  // of this process in the job, if there is one
  bool has_rank = false;
  int64_t offset_ns = 0;  // from this node's clock to that of the first rank's
};

// What a thread is in: written with what is over, where something happens.
struct OpenCall {
  // Relaxed, all: a time and a name that don't belong together are of two calls of which one has just ended.
  std::atomic<uint64_t> began_ns{0};  // 0: nothing
  std::atomic<const char*> name{nullptr};
  std::atomic<uint32_t> track{0};
  std::atomic<bool> has_failed{false};

  void leave() { began_ns.store(0, std::memory_order_relaxed); }
  // Instead: it is told until the thread enters another.
  void fail() { has_failed.store(true, std::memory_order_relaxed); }
};

// Where a process writes, and what it is called there.
struct TracePlace {
  std::string file;
  std::string host;
  uint32_t node = 0;
  uint64_t base_ns = 0;  // of a file that is new: before any process of the job began
};

// What the process has come to know, as it was at one time.
struct TraceKnown {
  TraceJob job;
  std::vector<uint32_t> tracks;
  std::vector<std::string> names;  // of communicators, by TraceEvent::communicator_name
};

class TraceWriter {
 public:
  TraceWriter(TracePlace place, TraceSetting setting, const TraceRing& ring)
      : place_(std::move(place)), setting_(std::move(setting)), ring_(ring) {}

  // What is new of the events before `last`, and of the calls that are open. Where it can't be written a warning says
  // so, once. `known`: from after the time when `last` was.
  void write(const TraceKnown& known, uint64_t last, std::span<const OpenCall> open, bool is_end);

 private:
  bool are_untold(std::span<const OpenCall> open) const;
  Status write_events(TraceFile& file, const TraceKnown& known, uint64_t first, uint64_t last,
                      std::span<const OpenCall> open);
  void append_new_tracks(std::string& text, const TraceKnown& known, const TraceOrigin& origin);
  void append_open_calls(std::string& text, std::span<const OpenCall> open, const TraceOrigin& origin);

  const TracePlace place_;
  const TraceSetting setting_;
  const TraceRing& ring_;
  size_t named_tracks_ = 0;             // in the file
  uint64_t written_ = 0;                // events up to here are in the file, or dropped
  std::vector<uint64_t> told_open_ns_;  // when the call began that was last written as open
  bool has_failed_ = false;
  bool has_written_ = false;  // it has been told
  bool has_dropped_ = false;
};

}  // namespace hocket::platform
