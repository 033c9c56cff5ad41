// SPDX-License-Identifier: BSD-3-Clause
// The trace of this process (docs/trace.md), if HOCKET_TRACE asks for one: its events, its tracks, and when they are
// written. One for all contexts of the process, which may belong to several ranks. A child of fork() has none.
//
// Events are written when the last context goes and when the process ends; with ring:N:FILE only when something
// happens. What may happen: a call fails, a rank says who is late, and SIGUSR2, where the program has left that signal
// as it was. Then a thread is asked to write, which waits for that: whoever asks may hold locks.
//
// Thread safety: any thread. Nobody waits for a file but who writes: what is known is copied out first.
#pragma once

#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/trace_setting.h"
#include "platform/tracing/trace_event.h"
#include "platform/tracing/trace_ring.h"
#include "platform/tracing/trace_writer.h"

namespace hocket::platform {

class Tracer {
 public:
  // nullptr: nothing is traced. Acquire: what it points at is there. Partners: begin(), and fork() in a child.
  static Tracer* current() { return current_.load(std::memory_order_acquire); }
  // Starts to trace if the setting asks for it, once. The error is the setting's. Where the file can't be written, a
  // warning says so and nothing is traced.
  static Status begin();
  // Likewise, but why the file can't be written is left to the caller to say.
  static Status begin(Status& problem);

  void set_job(const TraceJob& job);
  // A job without a name gets this one.
  void name_job(uint64_t job);

  // The track of this thread, which makes calls as this rank: it stays what it was at first.
  uint32_t track_of_thread(uint32_t rank);
  // What an event says instead of a communicator's name. 0: it has none, or there are too many.
  uint16_t number_of_name(std::string_view name);
  // This thread is in that call until it leaves it. nullptr: it is in one already, or there are too many threads.
  OpenCall* enter(const char* name, uint64_t began_ns);
  // They are put on this thread's track. The first contains the others.
  void add(std::span<TraceEvent> events);
  void add(TraceEvent event) { add({&event, 1}); }
  // On the track that it says.
  void add_beside(const TraceEvent& event) { ring_->add(event); }

  // What has not been written yet, if it is to be now.
  void write_at_end();
  // Something has happened. Also in a signal handler, and under whatever locks.
  void ask_to_write();
  // Comes back when what was asked for before has been written: where the process may end next.
  void write_asked();

 private:
  explicit Tracer(TraceSetting setting);
  Status start();
  void start_thread();
  [[noreturn]] void write_when_asked();
  void catch_signal();
  void write(std::span<const OpenCall> open, bool is_end);
  TraceKnown known();
  uint32_t make_track(uint32_t rank);

  static constexpr size_t kMostOpen = 64;
  static std::atomic<Tracer*> current_;

  const TraceSetting setting_;
  const TracePlace place_;
  const int process_;  // that it belongs to: one that came about without fork()'s handlers writes nothing either
  std::unique_ptr<TraceRing> ring_;
  std::array<OpenCall, kMostOpen> open_;  // of the first threads

  sem_t wake_;
  // How often it was asked for, and how many of these have been written. Release and acquire: who finds all written
  // finds the file so.
  std::atomic<uint64_t> asked_{0};
  std::atomic<uint64_t> answered_{0};

  std::mutex writing_mutex_;  // of the file, as long as it takes; taken before the other
  std::unique_ptr<TraceWriter> writer_;

  std::mutex mutex_;  // of what follows
  TraceKnown known_;
};

// Whether to trace: what a call looks at.
inline bool is_traced() { return Tracer::current() != nullptr; }

}  // namespace hocket::platform
