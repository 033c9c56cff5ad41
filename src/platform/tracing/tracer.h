// SPDX-License-Identifier: BSD-3-Clause
// The trace of this process (docs/trace.md), if HOCKET_TRACE asks for one: its events, its tracks, and when they are
// written. One for all contexts of the process, which may belong to several ranks.
//
// Events are written when the last context goes and when the process ends; with ring:N:FILE only when something
// happens. What may happen: a call fails, a rank says who is late, and SIGUSR2, where the program has left that signal
// as it was: a handler counts a semaphore up, and a thread that waits for it writes.
//
// Thread safety: any thread.
#pragma once

#include <semaphore.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
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

  void leave() { began_ns.store(0, std::memory_order_relaxed); }
};

class Tracer {
 public:
  // nullptr: nothing is traced. Acquire: what it points at is there. Partner: begin().
  static Tracer* current() { return current_.load(std::memory_order_acquire); }
  // Starts to trace if the setting asks for it, once. The error is the setting's.
  static Status begin();

  void set_job(const TraceJob& job);
  // A job without a name gets this one.
  void name_job(uint64_t job);

  // The track of this thread, which makes calls as this rank: it stays what it was at first.
  uint32_t track_of_thread(uint32_t rank);
  // This thread is in that call until it leaves it. nullptr: it is in one already, or there are too many threads.
  OpenCall* enter(const char* name, uint64_t began_ns);
  // They are put on this thread's track. The first contains the others.
  void add(std::span<TraceEvent> events);
  void add(TraceEvent event) { add({&event, 1}); }
  // On the track that it says.
  void add_beside(const TraceEvent& event) { ring_->add(event); }

  // What has not been written yet, if it is to be now.
  void write_at_end();
  // Something has happened: in this thread now, or by the thread that waits for it.
  void write_now();
  void ask_to_write() { sem_post(&asked_); }  // also in a signal handler

 private:
  explicit Tracer(TraceSetting setting);
  Status start();
  void start_thread();
  [[noreturn]] void write_when_asked();
  void catch_signal();
  void write(bool with_open_calls);
  bool have_untold_open_calls() const;
  void append_open_calls(std::string& text, uint64_t now_ns);
  Status write_events(TraceFile& file, uint64_t first, uint64_t last, uint64_t dropped, bool with_open_calls);
  void append_new_tracks(std::string& text);
  TraceOrigin origin() const { return {node_, job_.offset_ns - static_cast<int64_t>(used_base_ns_)}; }
  uint32_t make_track(uint32_t rank);

  static constexpr size_t kMostOpen = 64;
  static std::atomic<Tracer*> current_;

  const TraceSetting setting_;
  std::string file_;
  std::string host_;
  uint32_t node_ = 0;
  uint64_t base_ns_ = 0;  // of a file that is new: before any process of the job began
  int process_ = 0;       // that it belongs to: a child of fork() writes nothing
  std::unique_ptr<TraceRing> ring_;
  sem_t asked_;
  std::array<OpenCall, kMostOpen> open_;  // of the first threads

  std::mutex mutex_;  // of what follows
  TraceJob job_;
  std::vector<uint32_t> tracks_;
  std::vector<uint32_t> threads_of_rank_;
  uint64_t used_base_ns_ = 0;                       // of the file that is written
  size_t named_tracks_ = 0;                         // in the file
  uint64_t written_ = 0;                            // events up to here are in the file, or dropped
  std::array<uint64_t, kMostOpen> told_open_ns_{};  // when the call began that was last written as open
  bool has_failed_ = false;                         // it has been told
  bool has_dropped_ = false;
};

// Whether to trace: what a call looks at.
inline bool is_traced() { return Tracer::current() != nullptr; }

}  // namespace hocket::platform
