// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/wait_state.h"

namespace hocket::platform {
namespace {

// Ranks that share cores yield at once, but not to whom they wait for when that one is just writing: it runs on another
// core, and the rank that got this one might compute for a whole time slice. That many looks take ten microseconds.
constexpr uint32_t kLooksAtWork = 256;
// The cost of a yield to the rank itself, however long others then have the core.
constexpr int64_t kYieldCostNs = 10'000;
// So long a peer that was woken may take to come. A yield would give its core to a foreign program, for a time slice.
constexpr int64_t kWakingNs = 200'000;
// A rank moves away from a peer no more often: where peers last waited may be out of date.
constexpr int64_t kBetweenMovesNs = 1'000'000;
// For how long one costly yield keeps a rank from another: the next costs no more than this one has saved.
constexpr int64_t kLongestCostlyNs = 4'000'000;

}  // namespace

WaitStep WaitState::step_slowly(uint32_t look, bool at_work) {
  if (policy_->library.is_polled) return step_in_library(look);
  if (policy_->mode == WaitMode::kYield && look % kLooksPerObservation != kLooksPerObservation - 1)
    return WaitStep::kYield;
  if (policy_->mode == WaitMode::kAutomatic && at_work && look < kLooksAtWork) return WaitStep::kRelax;
  return WaitStep::kObserve;
}

// Data that arrives in pieces advances one piece a poll, so several polls follow each sleep.
WaitStep WaitState::step_in_library(uint32_t look) const {
  const uint32_t period = sleeps_        ? policy_->library.looks_between_sleeps
                          : shares_core_ ? 1
                                         : kLibraryPollsPerObservation;
  if (look % period == period - 1) return WaitStep::kObserve;
  return sleeps_ || look < policy_->library.looks_before_yield ? WaitStep::kLook : WaitStep::kYield;
}

WaitStep WaitState::observe_in_library(const View& view) {
  idle_ns_ = view.has_worked || last_ns_ == 0 ? 0 : idle_ns_ + view.now_ns - last_ns_;
  note(view.now_ns, view.has_peer_here && policy_->mode == WaitMode::kAutomatic);
  if (is_to_move()) return WaitStep::kMove;
  const bool may_sleep = policy_->mode == WaitMode::kAutomatic || policy_->mode == WaitMode::kSleep;
  sleeps_ = may_sleep && idle_ns_ >= policy_->spin_ns && !view.is_wanted;
  spins_ = !sleeps_ && !yields_in_library();
  if (sleeps_) return WaitStep::kSleep;
  return spins_ ? WaitStep::kLook : WaitStep::kYield;
}

void WaitState::note(int64_t now_ns, bool has_peer_here) {
  last_ns_ = now_ns;
  if (started_ns_ == 0) started_ns_ = now_ns;
  shares_core_ = has_peer_here && !policy_->oversubscribed;
}

bool WaitState::is_to_move() {
  if (!shares_core_ || last_ns_ - moved_ns_ < kBetweenMovesNs) return false;
  moved_ns_ = last_ns_;
  return true;
}

WaitStep WaitState::observe(const View& view) {
  if (policy_->library.is_polled) return observe_in_library(view);
  note(view.now_ns, view.has_peer_here);
  switch (policy_->mode) {
    case WaitMode::kSpin:
      return WaitStep::kRelax;
    case WaitMode::kYield:
      return WaitStep::kYield;
    case WaitMode::kSleep:
      return view.is_wanted ? WaitStep::kYield : WaitStep::kSleep;
    case WaitMode::kAutomatic:
      break;
  }
  if (is_to_move()) return WaitStep::kMove;
  // A look may also have made progress, since data can come in pieces. Then no peer is late.
  if (view.has_worked) idle_ns_ = 0;
  spins_ = has_core() && (last_ns_ - started_ns_ < policy_->spin_ns || last_ns_ - view.woke_ns < kWakingNs);
  if (spins_) return WaitStep::kRelax;
  const bool has_waited_long = idle_ns_ >= policy_->yield_ns || yields_are_costly(last_ns_);
  return has_waited_long && !view.is_wanted ? WaitStep::kSleep : WaitStep::kYield;
}

void WaitState::yielded(int64_t now_ns, int64_t took_ns, int64_t foreign_ns, bool has_peer_here) {
  note(now_ns, has_peer_here);
  idle_ns_ += std::min(took_ns, kYieldCostNs) + foreign_ns;
  if (foreign_ns != 0 && policy_->oversubscribed && !slices_are_short_)
    costly_until_ns_ = now_ns + std::min(foreign_ns, kLongestCostlyNs);
}

void WaitState::woken(int64_t now_ns, bool by_peer, bool has_peer_here) {
  note(now_ns, has_peer_here);
  sleep_ns_ = by_peer ? kFirstSleepNs : std::min(2 * sleep_ns_, kLongestSleepNs);
}

}  // namespace hocket::platform
