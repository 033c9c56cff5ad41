// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/tracer.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/file_pattern.h"
#include "base/log.h"
#include "platform/bootstrap/connector.h"

namespace hocket::platform {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
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

}  // namespace

std::atomic<Tracer*> Tracer::current_{nullptr};

// Never destroyed: threads of the program may outlive static destruction.
Status Tracer::begin() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (current() != nullptr) return Status::ok();
  Result<std::string> text = environment::get_text("HOCKET_TRACE");
  if (!text.is_ok()) return text.take_status();
  if (text.value().empty()) return Status::ok();
  Result<TraceSetting> setting = parse_trace_setting(text.value());
  if (!setting.is_ok()) return setting.take_status();
  std::unique_ptr<Tracer> tracer(new Tracer(setting.take()));
  HOCKET_TRY(tracer->start());
  // Release: see current().
  current_.store(tracer.release(), std::memory_order_release);
  return Status::ok();
}

Tracer::Tracer(TraceSetting setting) : setting_(std::move(setting)), host_(name_of_host()), process_(getpid()) {
  sem_init(&asked_, 0, 0);
}

// What has one label has one set of tracks, whatever it calls its host.
Status Tracer::start() {
  const Result<std::string> node = environment::get_text("HOCKET_NODE");
  const std::string name = node.is_ok() ? node.value() : "";
  if (!name.empty()) host_ += " " + name;
  constexpr uint32_t kNodeBits = 24;
  node_ = static_cast<uint32_t>(label_of_node(address_here(hash_of(name))) >> (64 - kNodeBits)) | 1;
  // A program may change its folder before it ends.
  file_ = whole_path(file_of_pattern(setting_.file, name_of_host()));
  const uint64_t begins_ns = now_ns();
  base_ns_ = begins_ns > kHeadStartNs ? begins_ns - kHeadStartNs : 1;
  Result<std::unique_ptr<TraceRing>> ring = TraceRing::create(setting_.events);
  if (!ring.is_ok()) return ring.take_status();
  ring_ = ring.take();
  start_thread();
  catch_signal();
  std::atexit(write_at_exit);
  return Status::ok();
}

// Without one, writing is left to the end and to failures. No signal of the program's is handled in it.
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
    if (sem_wait(&asked_) == 0) write(true);
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
  job_ = job;
}

void Tracer::name_job(uint64_t job) {
  const std::lock_guard lock(mutex_);
  if (job_.job == 0) job_.job = job;
}

uint32_t Tracer::track_of_thread(uint32_t rank) {
  if (thread_track == TraceEvent::kNone) [[unlikely]]
    thread_track = make_track(rank);
  return thread_track;
}

uint32_t Tracer::make_track(uint32_t rank) {
  const std::lock_guard lock(mutex_);
  const uint32_t own = job_.has_rank ? job_.rank : rank % kTracksApart;
  const auto others = static_cast<uint32_t>(
      std::count_if(tracks_.begin(), tracks_.end(), [own](uint32_t track) { return rank_of_track(track) == own; }));
  constexpr uint32_t kMostThreads = INT_MAX / kTracksApart - 1;
  thread_number = tracks_.size();
  tracks_.push_back(own + std::min(others, kMostThreads) * kTracksApart);
  return tracks_.back();
}

OpenCall* Tracer::enter(const char* name, uint64_t began_ns) {
  const uint32_t track = track_of_thread(0);
  if (thread_number >= open_.size()) return nullptr;
  OpenCall& open = open_[thread_number];
  if (open.began_ns.load(std::memory_order_relaxed) != 0) return nullptr;
  open.track.store(track, std::memory_order_relaxed);
  open.name.store(name, std::memory_order_relaxed);
  open.began_ns.store(began_ns, std::memory_order_relaxed);
  return &open;
}

bool Tracer::have_untold_open_calls() const {
  for (size_t i = 0; i < open_.size(); ++i) {
    const uint64_t began_ns = open_[i].began_ns.load(std::memory_order_relaxed);
    if (began_ns != 0 && began_ns != told_open_ns_[i]) return true;
  }
  return false;
}

void Tracer::append_open_calls(std::string& text, uint64_t now_ns) {
  for (size_t i = 0; i < open_.size(); ++i) {
    TraceEvent event;
    event.kind = TraceKind::kOpen;
    event.name = open_[i].name.load(std::memory_order_relaxed);
    event.track = open_[i].track.load(std::memory_order_relaxed);
    event.began_ns = open_[i].began_ns.load(std::memory_order_relaxed);
    event.ended_ns = now_ns;
    if (event.began_ns == 0 || event.began_ns > now_ns) continue;
    told_open_ns_[i] = event.began_ns;
    append_event(text, event, ~uint64_t{0} - event.began_ns, origin());
  }
}

void Tracer::add(std::span<TraceEvent> events) {
  uint64_t number = ring_->reserve(events.size());
  for (TraceEvent& event : events) {
    event.track = track_of_thread(0);
    ring_->write(number++, event);
  }
}

void Tracer::append_new_tracks(std::string& text) {
  if (named_tracks_ == 0) append_node_name(text, host_, origin());
  for (; named_tracks_ < tracks_.size(); ++named_tracks_) append_track_name(text, tracks_[named_tracks_], origin());
}

Status Tracer::write_events(TraceFile& file, uint64_t first, uint64_t last, uint64_t dropped, bool with_open_calls) {
  std::string text;
  append_new_tracks(text);
  for (uint64_t number = first; number < last; ++number) {
    TraceEvent event;
    if (!ring_->read(number, event)) continue;
    if (dropped != 0) append_dropped(text, std::exchange(dropped, 0), event.began_ns, event.track, origin());
    append_event(text, event, number, origin());
    if (text.size() < kChunkBytes) continue;
    HOCKET_TRY(file.add(text));
    text.clear();
  }
  if (with_open_calls) append_open_calls(text, now_ns());
  HOCKET_TRY(file.add(text));
  return file.close();
}

void Tracer::write(bool with_open_calls) {
  if (getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  const uint64_t last = ring_->added();
  const uint64_t oldest = std::max(ring_->first(), last > setting_.events ? last - setting_.events : 0);
  const uint64_t first = std::max(written_, oldest);
  if (first == last && !(with_open_calls && have_untold_open_calls())) return;
  const uint64_t dropped = first - written_;
  const size_t named_before = named_tracks_;
  Result<TraceFile> file = TraceFile::open(file_, job_.job, base_ns_ + static_cast<uint64_t>(job_.offset_ns));
  if (file.is_ok()) used_base_ns_ = file.value().base_ns();
  const Status status =
      file.is_ok() ? write_events(file.value(), first, last, dropped, with_open_calls) : file.take_status();
  written_ = last;
  if (!status.is_ok()) {
    named_tracks_ = named_before;
    if (!std::exchange(has_failed_, true))
      HOCKET_LOG_WARN("%s; the job goes on, and %llu events of this process are lost", status.message(),
                      static_cast<unsigned long long>(last - first));
    return;
  }
  if (dropped != 0 && !setting_.at_events && !std::exchange(has_dropped_, true))
    HOCKET_LOG_WARN("HOCKET_TRACE: the first %llu events of this process are not in %s: memory holds the last %llu",
                    static_cast<unsigned long long>(dropped), file_.c_str(),
                    static_cast<unsigned long long>(setting_.events));
}

void Tracer::write_at_end() {
  if (!setting_.at_events) write(false);
}

void Tracer::write_now() { write(true); }

}  // namespace hocket::platform
