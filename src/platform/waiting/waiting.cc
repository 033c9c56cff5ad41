// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/waiting.h"

#include <sched.h>

#include <cstdint>

#include "base/clock.h"
#include "platform/waiting/placement.h"
#include "platform/waiting/time_slice.h"

namespace hocket::platform {
namespace {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

int64_t clock_ns() { return static_cast<int64_t>(now_ns()); }

// Different for any two threads.
const void* this_thread() {
  static thread_local char here;
  return &here;
}

}  // namespace

void Waiter::prepare() {
  if (policy_.mode != WaitMode::kAutomatic || !policy_.oversubscribed || asked_in_ == this_thread()) return;
  asked_in_ = this_thread();
  state_.set_slices(policy_.slice_ns != 0 && shorten_time_slice(policy_.slice_ns));
}

WaitAction Waiter::pause(bool at_work, bool is_wanted) {
  WaitStep step = state_.step(at_work);
  if (step == WaitStep::kObserve) step = observe(is_wanted);
  switch (step) {
    case WaitStep::kLook:
      return WaitAction::kSpin;
    case WaitStep::kYield:
      return yield();
    case WaitStep::kSleep:
      slept_on_ = sched_getcpu();
      return WaitAction::kSleep;
    default:
      relax();
      return WaitAction::kSpin;
  }
}

WaitStep Waiter::observe(bool is_wanted) {
  const int64_t now_ns = clock_ns();
  const bool has_worked = !state_.spins() && turn_.end(sched_getcpu(), now_ns, processor_time_ns);
  const int64_t woke_ns = policy_.turns == nullptr ? 0 : policy_.turns->woke_ns();
  const WaitStep step = state_.observe({now_ns, has_peer_here(), has_worked, woke_ns, is_wanted});
  if (step != WaitStep::kMove) return step;
  move_away(*policy_.turns, slept_on_);
  return state_.observe({clock_ns(), has_peer_here(), has_worked, woke_ns, is_wanted});
}

// Publishes the core, too.
bool Waiter::has_peer_here() {
  if (policy_.oversubscribed || policy_.turns == nullptr) return false;
  const int core = sched_getcpu();
  policy_.turns->come_to(core);
  return policy_.turns->has_peer_on(core);
}

void Waiter::end_turn() { (void)turn_.end(sched_getcpu(), clock_ns(), processor_time_ns); }

void Waiter::disregard() {
  if (turn_.is_known()) turn_.begin(clock_ns());
}

WaitAction Waiter::yield() {
  prepare();
  const int64_t before_ns = state_.last_ns();
  sched_yield();
  const int64_t now_ns = clock_ns();
  turn_.begin(now_ns);
  state_.yielded(now_ns, now_ns - before_ns, turn_.foreign_ns(sched_getcpu(), before_ns, now_ns), has_peer_here());
  return WaitAction::kYield;
}

bool Waiter::sees_load() const { return state_.yields_are_costly(clock_ns()); }

int64_t Waiter::waited_ns() const { return state_.started_ns() == 0 ? 0 : clock_ns() - state_.started_ns(); }

void Waiter::woken(bool by_peer) {
  const int64_t now_ns = clock_ns();
  turn_.begin(now_ns);
  state_.woken(now_ns, by_peer, has_peer_here());
}

}  // namespace hocket::platform
