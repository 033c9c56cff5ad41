// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/tracer.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/file_pattern.h"
#include "base/log.h"
#include "platform/bootstrap/connector.h"
#include "platform/bootstrap/launch_place.h"
#include "platform/tracing/trace_file.h"

namespace hocket::platform {
namespace {

// Processes of a job begin within this time.
constexpr uint64_t kHeadStartNs = 600 * kNanosecondsPerSecond;

thread_local uint32_t thread_track __attribute__((tls_model("initial-exec"))) = TraceEvent::kNone;
thread_local size_t thread_number __attribute__((tls_model("initial-exec"))) = 0;

// A handler leaves errno alone.
void ask_in_handler(int) {
  const int error = errno;
  if (Tracer* const tracer = Tracer::current(); tracer != nullptr) tracer->ask_to_write();
  errno = error;
}

void write_at_exit() {
  if (Tracer* const tracer = Tracer::current(); tracer != nullptr) tracer->write_at_end();
}

// What has one label has one set of tracks, whatever it calls its host. Above all tracks of first threads: a viewer
// takes the track with the number of its process for the main one.
uint32_t number_of_node(const std::string& name) {
  constexpr uint32_t kNodeBits = 30;
  return static_cast<uint32_t>(label_of_node(address_here(hash_of(name))) >> (64 - kNodeBits)) | 1U << kNodeBits;
}

TracePlace place_of(const TraceSetting& setting) {
  TracePlace place;
  const Result<std::string> node = environment::get_text("HOCKET_NODE");
  const std::string name = node.is_ok() ? node.value() : "";
  place.host = name_of_host() + (name.empty() ? "" : " " + name);
  place.node = number_of_node(name);
  // A program may change its folder before it ends.
  place.file = whole_path(file_of_pattern(setting.file, name_of_host()));
  const uint64_t begins_ns = now_ns();
  place.base_ns = begins_ns > kHeadStartNs ? begins_ns - kHeadStartNs : 1;
  return place;
}

// Of the ranks that `hocket run` starts, which are on one machine, the first.
bool speaks_for_job() {
  const Result<std::string> text = environment::get_text("HOCKET_RUN");
  if (!text.is_ok() || text.value().empty()) return true;
  const Result<LaunchPlace> place = parse_launch_place(text.value());
  return !place.is_ok() || place.value().rank == 0;
}

// Nothing is traced from here on. Relaxed: it stands for itself.
std::atomic<bool> has_ended{false};

}  // namespace

std::atomic<Tracer*> Tracer::current_{nullptr};

Status Tracer::begin() {
  Status problem;
  HOCKET_TRY(begin(problem));
  if (!problem.is_ok() && speaks_for_job()) HOCKET_LOG_WARN("%s; the job goes on without a trace", problem.message());
  return Status::ok();
}

// Never destroyed: threads of the program may outlive static destruction.
Status Tracer::begin(Status& problem) {
  const auto is_over = [] { return current() != nullptr || has_ended.load(std::memory_order_relaxed); };
  if (is_over()) return Status::ok();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (is_over()) return Status::ok();
  Result<std::string> text = environment::get_text("HOCKET_TRACE");
  if (!text.is_ok()) return text.take_status();
  if (text.value().empty()) return Status::ok();
  Result<TraceSetting> setting = parse_trace_setting(text.value());
  if (!setting.is_ok()) return setting.take_status();
  std::unique_ptr<Tracer> tracer(new Tracer(setting.take()));
  problem = TraceFile::check(tracer->place_.file);
  if (!problem.is_ok()) {
    tracer->catch_signal();  // who asks all ranks for what they have must not end this one
    has_ended.store(true, std::memory_order_relaxed);
    return Status::ok();
  }
  HOCKET_TRY(tracer->start());
  // The locks and the thread are the parent's.
  pthread_atfork(nullptr, nullptr, [] {
    has_ended.store(true, std::memory_order_relaxed);
    current_.store(nullptr, std::memory_order_relaxed);
  });
  // Release: see current().
  current_.store(tracer.release(), std::memory_order_release);
  return Status::ok();
}

Tracer::Tracer(TraceSetting setting) : setting_(std::move(setting)), place_(place_of(setting_)), process_(getpid()) {
  sem_init(&wake_, 0, 0);
}

Status Tracer::start() {
  Result<std::unique_ptr<TraceRing>> ring = TraceRing::create(setting_.events);
  if (!ring.is_ok()) return ring.take_status();
  ring_ = ring.take();
  writer_ = std::make_unique<TraceWriter>(place_, setting_, *ring_);
  start_thread();
  catch_signal();
  std::atexit(write_at_exit);
  return Status::ok();
}

// Without one, writing is left to write_asked() and to the end. No signal of the program's is handled in it.
void Tracer::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const auto run = [](void* self) -> void* { static_cast<Tracer*>(self)->write_when_asked(); };
  if (pthread_create(&thread, nullptr, run, this) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Tracer::write_when_asked() {
  for (;;)
    if (sem_wait(&wake_) == 0) write_asked();
}

// A program that uses the signal, or ignores it, keeps it.
void Tracer::catch_signal() {
  struct sigaction found{};
  if (sigaction(SIGUSR2, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0 || found.sa_handler != SIG_DFL) {
    HOCKET_LOG_INFO("HOCKET_TRACE: the program uses SIGUSR2 itself, which does not make hocket write the trace then");
    return;
  }
  struct sigaction action{};
  action.sa_handler = ask_in_handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
}

void Tracer::set_job(const TraceJob& job) {
  const std::lock_guard lock(mutex_);
  known_.job = job;
}

void Tracer::name_job(uint64_t job) {
  const std::lock_guard lock(mutex_);
  if (known_.job.job == 0) known_.job.job = job;
}

uint32_t Tracer::track_of_thread(uint32_t rank) {
  if (thread_track == TraceEvent::kNone) [[unlikely]]
    thread_track = make_track(rank);
  return thread_track;
}

uint32_t Tracer::make_track(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t>& tracks = known_.tracks;
  const uint32_t own = known_.job.has_rank ? known_.job.rank : rank % kTracksApart;
  const auto others = static_cast<uint32_t>(
      std::count_if(tracks.begin(), tracks.end(), [own](uint32_t track) { return rank_of_track(track) == own; }));
  constexpr uint32_t kMostThreads = INT_MAX / kTracksApart - 1;
  thread_number = tracks.size();
  tracks.push_back(own + std::min(others, kMostThreads) * kTracksApart);
  return tracks.back();
}

uint16_t Tracer::number_of_name(std::string_view name) {
  if (name.empty()) return 0;
  const std::lock_guard lock(mutex_);
  std::vector<std::string>& names = known_.names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() && names.size() == UINT16_MAX) return 0;
  const auto place = found - names.begin();
  if (found == names.end()) names.emplace_back(name);
  return static_cast<uint16_t>(place + 1);
}

OpenCall* Tracer::enter(const char* name, uint64_t began_ns) {
  const uint32_t track = track_of_thread(0);
  if (thread_number >= open_.size()) return nullptr;
  OpenCall& open = open_[thread_number];
  const bool is_in = open.began_ns.load(std::memory_order_relaxed) != 0;
  if (is_in && !open.has_failed.load(std::memory_order_relaxed)) return nullptr;
  open.has_failed.store(false, std::memory_order_relaxed);
  open.track.store(track, std::memory_order_relaxed);
  open.name.store(name, std::memory_order_relaxed);
  // Release: what belongs to it is there before. Partner: TraceWriter::append_open_calls().
  open.began_ns.store(began_ns, std::memory_order_release);
  return &open;
}

void Tracer::add(std::span<TraceEvent> events) {
  uint64_t number = ring_->reserve(events.size());
  for (TraceEvent& event : events) {
    event.track = track_of_thread(0);
    ring_->write(number++, event);
  }
}

TraceKnown Tracer::known() {
  const std::lock_guard lock(mutex_);
  return known_;
}

void Tracer::write(std::span<const OpenCall> open, bool is_end) {
  if (getpid() != process_) return;
  const std::lock_guard lock(writing_mutex_);
  const uint64_t asked = asked_.load(std::memory_order_acquire);
  // Another thread has written meanwhile.
  if (!is_end && answered_.load(std::memory_order_acquire) == asked) return;
  const uint64_t last = ring_->added();  // first: what is known then tells of all their tracks
  try {
    writer_->write(known(), last, open, is_end);
  } catch (const std::bad_alloc&) {
    HOCKET_LOG_WARN("HOCKET_TRACE: no memory to write %s", place_.file.c_str());
  }
  answered_.store(asked, std::memory_order_release);
}

// What was asked for is under way in another thread, perhaps.
void Tracer::write_at_end() {
  if (setting_.at_events)
    write_asked();
  else
    write({}, true);
}

void Tracer::ask_to_write() {
  asked_.fetch_add(1, std::memory_order_release);
  sem_post(&wake_);
}

void Tracer::write_asked() {
  if (answered_.load(std::memory_order_acquire) != asked_.load(std::memory_order_acquire)) write(open_, false);
}

}  // namespace hocket::platform
