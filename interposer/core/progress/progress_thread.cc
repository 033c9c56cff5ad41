// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress_thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "core/progress/under_way.h"
#include "platform/waiting/wait_state.h"

namespace hocket::interposer {
namespace {

// Between polls, the longer the longer nothing has moved; and for how long the thread stays after the last call.
struct Pauses {
  platform::SleepTimes sleep_times;
  int64_t at_hand_ns;
};
constexpr Pauses pauses_on(Core core) {
  switch (core) {
    case Core::kSpare:
      return {{16, 20'000, 1'000'000}, 20'000'000};
    case Core::kOfRank:
      return {{16, 500'000, 1'000'000}, 20'000'000};
    default:
      return {{16, 500'000, 10'000'000}, 100'000'000};
  }
}

struct ProgressThread {
  std::mutex mutex;  // of its beginning and end
  // Stored with release behind what the first call needs of this.
  std::atomic<bool> is_there{false}, has_failed{false};
  pthread_t thread{};
  ThreadsWork work{};
  std::atomic<bool> is_eager{false};
  std::atomic<Core> core{Core::kOfRank};
  // A futex: goes up when the thread is called. Its sleep lasts until then, or as long as it wants.
  std::atomic<uint32_t> calls{0};
  enum class Sleeps : uint32_t { kNot, kForMoments, kUntilCalled };
  std::atomic<Sleeps> sleeps{Sleeps::kNot};
  std::atomic<bool> ends{false};
};

// Never destroyed: threads of the program may outlive static destruction.
ProgressThread& the_thread() {
  static auto* thread = new ProgressThread;
  return *thread;
}

void sleep_on(std::atomic<uint32_t>& word, uint32_t seen, const timespec* most) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, most, nullptr, 0);
}
void wake_up(ProgressThread& self) {
  self.calls.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &self.calls, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

using Sleeps = ProgressThread::Sleeps;

// True: it was called.
bool sleep(ProgressThread& self, Sleeps how, int64_t most_ns) {
  const uint32_t seen = self.calls.load(std::memory_order_seq_cst);
  self.sleeps.store(how, std::memory_order_seq_cst);
  const timespec most{most_ns / 1'000'000'000, most_ns % 1'000'000'000};
  // Who has started a call has raised the number of communicators before it looks whether this thread sleeps.
  const bool may_sleep = how == Sleeps::kForMoments || internal::watched.load(std::memory_order_seq_cst) == 0;
  if (may_sleep && !self.ends.load(std::memory_order_seq_cst))
    sleep_on(self.calls, seen, how == Sleeps::kUntilCalled ? nullptr : &most);
  self.sleeps.store(Sleeps::kNot, std::memory_order_seq_cst);
  return self.calls.load(std::memory_order_seq_cst) != seen;
}

// While calls may be under way. One that waits for a late peer is looked after the less often the longer it has
// waited: what a look takes is a small part of the time between two.
void stay_at_hand(ProgressThread& self) {
  const bool is_eager = self.is_eager.load(std::memory_order_relaxed);
  const auto [sleep_times, at_hand_ns] = pauses_on(self.core.load(std::memory_order_relaxed));
  int64_t pause_ns = sleep_times.shortest_ns;
  uint32_t looks_seen = internal::looks_made.load(std::memory_order_relaxed);
  auto last_used_ns = static_cast<int64_t>(now_ns()), last_moved_ns = last_used_ns;
  while (!self.ends.load(std::memory_order_relaxed)) {
    const bool is_called = sleep(self, Sleeps::kForMoments, pause_ns);
    const auto now = static_cast<int64_t>(now_ns());
    const uint32_t looks = internal::looks_made.load(std::memory_order_relaxed);
    const bool is_looked_after = std::exchange(looks_seen, looks) != looks;
    if (is_called || is_looked_after) last_used_ns = last_moved_ns = now;
    if (is_looked_after && !is_eager) {
      pause_ns = is_called ? sleep_times.shortest_ns : std::min(2 * pause_ns, sleep_times.longest_ns);
      continue;
    }
    const Moves moves = self.work.advance();
    if (moves == Moves::kSomething) last_moved_ns = now;
    if (moves == Moves::kNone) {
      pause_ns = std::min(2 * pause_ns, sleep_times.longest_ns);
      if (now - last_used_ns > at_hand_ns) return self.work.rest();
      continue;
    }
    last_used_ns = now;
    pause_ns = sleep_times.after(now - last_moved_ns);
  }
}

void* run(void*) {
  ProgressThread& self = the_thread();
  prctl(PR_SET_TIMERSLACK, 1);
  pthread_setname_np(pthread_self(), "hocket");
  while (!self.ends.load(std::memory_order_relaxed)) {
    stay_at_hand(self);
    sleep(self, Sleeps::kUntilCalled, 0);
  }
  return nullptr;
}

// Signals are the program's.
void start(ProgressThread& self) {
  const std::lock_guard lock(self.mutex);
  if (self.is_there || self.has_failed) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&self.thread, nullptr, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  self.is_there = error == 0;
  self.has_failed = error != 0;
  if (error != 0)
    HOCKET_LOG_WARN("no thread can be started to move non-blocking calls (%s): they move in calls of the MPI only",
                    std::strerror(error));
}

}  // namespace

void call_progress_thread(const ThreadsTask& task, const ThreadsWork& work) {
  ProgressThread& self = the_thread();
  if (!self.is_there.load(std::memory_order_acquire)) [[unlikely]] {
    if (self.has_failed.load(std::memory_order_relaxed)) return;
    self.work = work;
    self.is_eager.store(task.is_eager, std::memory_order_relaxed);
    self.core.store(task.core, std::memory_order_relaxed);
    start(self);
    return;
  }
  const Sleeps sleeps = self.sleeps.load(std::memory_order_seq_cst);
  if (sleeps == Sleeps::kUntilCalled || (sleeps == Sleeps::kForMoments && task.is_long && task.core == Core::kSpare))
    wake_up(self);
}

void stop_progress_thread() {
  ProgressThread& self = the_thread();
  const std::lock_guard lock(self.mutex);
  if (!self.is_there) return;
  self.ends.store(true, std::memory_order_seq_cst);
  wake_up(self);
  pthread_join(self.thread, nullptr);
  self.is_there = false;
  self.ends.store(false, std::memory_order_seq_cst);
}

void forget_thread() { the_thread().is_there = false; }

}  // namespace hocket::interposer
