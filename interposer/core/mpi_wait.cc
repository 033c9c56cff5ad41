// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_wait.h"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "core/awaited_progress.h"
#include "core/wake.h"
#include "platform/waiting/placement.h"

namespace hocket::interposer {
namespace {

// How long a thread sleeps between looks: a small part of the time that it has waited, since what it waits for may come
// without a ring. Where nothing rings and each rank has a core, looks take it from no other rank.
struct SleepTimes {
  int64_t sleeps_per_wait, shortest_ns, longest_ns;
};
constexpr SleepTimes kRung{32, 50'000, 4'000'000}, kOnSharedCores{32, 50'000, 1'000'000},
    kWithACoreEach{128, 50'000, 4'000'000};
// A rank that has waited for so long rings its peers, and again each time that it has waited twice as long: they may
// have to poll before what it waits for can come.
constexpr int64_t kFirstRingNs = 8'000;
// One that has not answered by then may be on this core, where it runs when this rank's time slice is over.
constexpr int64_t kAnswerNs = 100'000;
// A look costs some ten nanoseconds, reading the clock several times that.
constexpr uint32_t kLooksBetweenClocks = 64;

constexpr int64_t kLongWaitNs = 100'000'000;

// With a window, on which others may work for a while with pauses in between, and where they may not ring.
constexpr int64_t kAwakeWithWindowNs = 50'000'000;
// Processor time that idle looks take beyond twice the shortest, which after a sleep is mostly the kernel's; and how
// often in a row looks must take more to have moved something: one time may have been an interrupt.
constexpr int64_t kNoiseAwakeNs = 20'000, kNoiseAsleepNs = 40'000;
constexpr uint32_t kLongLooks = 2;

// The shortest that there was from one question to the next, awake and asleep. What was once shorter than it can be
// now, as yields take longer where others want the core, is forgotten within some ten questions.
struct Shortest {
  int64_t ns = 0;  // 0: there was none yet
  bool is_exceeded_by(int64_t took_ns, int64_t noise_ns) {
    if (ns == 0) ns = took_ns;
    const bool is_long = took_ns > 2 * ns + noise_ns;
    ns += took_ns < ns ? took_ns - ns : (took_ns - ns) / 8;
    return is_long;
  }
};

}  // namespace

void begin_mpi_waits(const MpiWaitPolicy& policy) {
  internal::wait_policy = policy;
  internal::looks.store(policy.looks, std::memory_order_relaxed);
}

void end_mpi_waits() { internal::looks.store(Looks::kByMpi, std::memory_order_relaxed); }

void MpiPause::pause() {
  const uint32_t look = looks_++;
  if (look == 0) {
    sleeps_ = false;
    began_ns_ = 0;
    first_ns_ = 0;
    next_ring_ns_ = kFirstRingNs;
    rings_.listen_at(wake_board());
  }
  const uint32_t between_sleeps = internal::wait_policy.looks_between_sleeps;
  // Awake it divides by a constant: a division takes as long as a look.
  if (sleeps_ ? look % between_sleeps == between_sleeps - 1 : look % kLooksBetweenClocks == kLooksBetweenClocks - 1)
    sleep_if_late();
  if (!sleeps_ && look >= internal::wait_policy.looks_before_yield && internal::wait_policy.yields) sched_yield();
}

bool MpiPause::has_moved_something() {
  static thread_local Shortest shortest[2];
  const int64_t before_ns = std::exchange(processor_ns_, processor_time_ns());
  const int64_t noise_ns = sleeps_ ? kNoiseAsleepNs : kNoiseAwakeNs;
  if (!shortest[sleeps_ ? 1 : 0].is_exceeded_by(processor_ns_ - before_ns, noise_ns)) {
    long_looks_ = 0;
    return false;
  }
  return ++long_looks_ >= kLongLooks;
}

void MpiPause::ring_peers(int64_t now_ns) {
  if (now_ns - first_ns_ < next_ring_ns_) return;
  next_ring_ns_ = 2 * (now_ns - first_ns_);
  if (!any_rank_waits()) return;
  ring_node();
  if (now_ns - first_ns_ >= kAnswerNs) sched_yield();
}

void MpiPause::sleep_if_late() {
  const MpiWaitPolicy& policy = internal::wait_policy;
  const bool do_peers_ring = rings_.is_complete();
  const auto now = static_cast<int64_t>(now_ns());
  if (began_ns_ == 0) {
    began_ns_ = now;
    processor_ns_ = processor_time_ns();
  } else if (has_moved_something()) {
    began_ns_ = now;
  }
  if (first_ns_ == 0) first_ns_ = now;
  ring_peers(now);
  // The ringer spins until this rank has polled.
  if (rings_.is_newly_rung() && !policy.share_cores && rings_.is_on_ringers_core()) platform::leave_core();
  rings_.note(now);
  if (now - first_ns_ >= kLongWaitNs && policy.long_wait != nullptr) policy.long_wait();
  const int64_t waited_ns = now - began_ns_;
  sleeps_ = policy.sleeps && waited_ns >= policy.awake_ns && !rings_.stays_awake(now) &&
            (waited_ns >= kAwakeWithWindowNs || !awaited_progress.has_windows() || do_peers_ring);
  if (!sleeps_) return end();
  if (rings_.want_rings()) return;
  // Peers don't ring for started hocket calls.
  const SleepTimes& times = do_peers_ring && !has_under_way() ? kRung
                            : policy.share_cores              ? kOnSharedCores
                                                              : kWithACoreEach;
  // A peer that can't ring waits for the end of a sleep with each access.
  const bool is_short = awaited_progress.has_windows() && !do_peers_ring;
  const int64_t ns =
      is_short ? times.shortest_ns : std::clamp(waited_ns / times.sleeps_per_wait, times.shortest_ns, times.longest_ns);
  if (rings_.board() == nullptr) {
    const timespec time{0, ns};
    nanosleep(&time, nullptr);
    return;
  }
  if (policy.share_cores) {
    (void)rings_.sleep(ns);
  } else {
    const platform::AvoidPeers stays{platform::AvoidPeers::AllCoresButOwn()};
    (void)rings_.sleep(ns);
  }
}

}  // namespace hocket::interposer
