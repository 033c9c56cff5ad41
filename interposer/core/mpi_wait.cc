// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_wait.h"

#include <sched.h>

#include <ctime>
#include <utility>

#include "base/clock.h"
#include "core/awaited_progress.h"
#include "core/wake.h"
#include "platform/waiting/placement.h"

namespace hocket::interposer {
namespace {

// Where events may come without a ring. With a core each, polls disturb no other rank, so sleeps are shorter.
constexpr platform::SleepTimes kOnSharedCores{32, 50'000, 1'000'000}, kWithACoreEach{128, 50'000, 4'000'000};
// A rank that has waited for so long rings its peers, and again each time that it has waited twice as long: they may
// have to poll before what it waits for can come.
constexpr int64_t kFirstRingNs = 8'000;
// One that has not answered by then may be on this core, where it runs when this rank's time slice is over.
constexpr int64_t kAnswerNs = 100'000;
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

// Returns the board that a test loop uses; nullptr while the MPI waits as it does without hocket.
platform::WakeBoard* tests_board() { return looks() == Looks::kByMpi ? nullptr : wake_board(); }

}  // namespace

void begin_mpi_waits(const MpiWaitPolicy& policy) {
  internal::wait_policy = policy;
  internal::looks.store(policy.looks, std::memory_order_relaxed);
}

void end_mpi_waits() { internal::looks.store(Looks::kByMpi, std::memory_order_relaxed); }

void MpiPause::begin() {
  has_started_ = true;
  state_.start();
  next_ring_ns_ = kFirstRingNs;
  rings_.listen_at(wake_board());
}

void MpiPause::act(platform::WaitStep step, bool may_sleep) {
  if (step == platform::WaitStep::kYield)
    sched_yield();
  else
    observe(may_sleep);
}

bool MpiPause::has_moved_something() {
  static thread_local Shortest shortest[2];
  const int64_t before_ns = std::exchange(processor_ns_, processor_time_ns());
  if (state_.started_ns() == 0) return false;
  const int64_t noise_ns = state_.sleeps() ? kNoiseAsleepNs : kNoiseAwakeNs;
  if (!shortest[state_.sleeps() ? 1 : 0].is_exceeded_by(processor_ns_ - before_ns, noise_ns)) {
    long_looks_ = 0;
    return false;
  }
  return ++long_looks_ >= kLongLooks;
}

void MpiPause::ring_peers(int64_t waited_ns) {
  if (waited_ns < next_ring_ns_) return;
  next_ring_ns_ = 2 * waited_ns;
  if (!any_rank_waits()) return;
  ring_node();
  if (waited_ns >= kAnswerNs) sched_yield();
}

void MpiPause::observe(bool may_sleep) {
  const MpiWaitPolicy& policy = internal::wait_policy;
  const auto now = static_cast<int64_t>(now_ns());
  const int64_t waited_ns = state_.started_ns() == 0 ? 0 : now - state_.started_ns();
  // Loops of tests may outlive the job.
  if (!may_sleep && rings_.board() != tests_board()) rings_.listen_at(tests_board());
  platform::WakeBoard* const board = rings_.board();
  platform::WaitState::View view{.now_ns = now, .is_wanted = !may_sleep};
  if (may_sleep) {
    view.has_worked = has_moved_something();
    ring_peers(waited_ns);
    // The ringer spins until this rank has polled.
    if (rings_.is_newly_rung() && !policy.wait.oversubscribed && rings_.is_on_ringers_core() &&
        !platform::move_away(board->cores()))
      platform::leave_core();
    rings_.note(now);
    if (waited_ns >= kLongWaitNs && policy.long_wait != nullptr) policy.long_wait();
    view.is_wanted = rings_.stays_awake(now) || (has_silent_accessors() && state_.idle_ns() < kAwakeWithWindowNs);
  }
  view.has_peer_here = board != nullptr && !policy.wait.oversubscribed && board->cores().finds_peer_on(sched_getcpu());
  platform::WaitStep step = state_.observe(view);
  if (step == platform::WaitStep::kMove) {
    view.has_peer_here = !platform::move_away(board->cores());
    step = state_.observe(view);
  }
  if (step == platform::WaitStep::kSleep) return sleep();
  end();
  if (step == platform::WaitStep::kYield) sched_yield();
}

bool MpiPause::has_silent_accessors() const { return awaited_progress.has_windows() && !rings_.is_complete(); }

void MpiPause::sleep() {
  if (rings_.want_rings()) return;
  const bool shares_cores = internal::wait_policy.wait.oversubscribed;
  // Peers don't ring for started hocket calls.
  const platform::SleepTimes& times = rings_.is_complete() && !has_under_way() ? platform::kSleepsWithRings
                                      : shares_cores                           ? kOnSharedCores
                                                                               : kWithACoreEach;
  // A peer that can't ring waits for the end of a sleep with each access.
  const int64_t ns = has_silent_accessors() ? times.shortest_ns : times.after(state_.idle_ns());
  if (rings_.board() == nullptr) {
    const timespec time{0, ns};
    nanosleep(&time, nullptr);
    return;
  }
  if (shares_cores) {
    (void)rings_.sleep(ns);
  } else {
    const platform::AvoidPeers stays{platform::AvoidPeers::AllCoresButOwn()};
    (void)rings_.sleep(ns);
  }
}

}  // namespace hocket::interposer
