// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/ranks_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "platform/waiting/ranks_world.h"

namespace hocket::platform::model {
void World::fail(uint32_t id, const char* what) {
  if (!outcome_.trouble.empty()) return;
  outcome_.trouble = "rank " + std::to_string(id) + " in phase " + std::to_string(ranks_[id]->phase) + " at " +
                     std::to_string(kernel_.now_ns()) + " ns: " + what;
}

Outcome World::run() {
  while (ended_ < scenario_.ranks && outcome_.trouble.empty()) {
    const Kernel::Event event = kernel_.next(kLongestRunNs);
    const uint32_t id = event.thread;
    ++outcome_.events;
    note_reasons();
    if (event.what == Kernel::What::kNothing) {
      fail(0, "the job does not end");
    } else if (event.what == Kernel::What::kStep) {
      finish(id);
    } else if (ranks_[id]->op == Op::kSleep) {
      ranks_[id]->by_peer = false;
      const bool is_being_woken = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) {
        return rank->op == Op::kCheck || rank->op == Op::kWake;
      });
      if (has_come(id) && !is_being_woken) fail(id, "a wake-up was lost");
    }
  }
  outcome_.end_ns = kernel_.now_ns();
  for (uint32_t id = 0; id < scenario_.ranks; ++id) outcome_.processor_ns.push_back(kernel_.thread(id).processor_ns);
  return std::move(outcome_);
}

void World::finish(uint32_t id) {
  Rank& rank = *ranks_[id];
  switch (rank.op) {
    case Op::kWork:
      next(id, Op::kLate, kArriveNs);
      if (phase(id).late_ns != 0) kernel_.sleep(id, kernel_.now_ns() + phase(id).late_ns);
      return;
    case Op::kLate:
      return next(id, Op::kArrive, kArriveNs);
    case Op::kArrive:
      return arrive(id);
    case Op::kCheck:
      rank.wakes = 0;
      return sleepers_ != 0 ? wake_next(id) : next(id, Op::kLook, kLookNs);
    case Op::kWake:
      // In a library, the mask of a sleeper that has a core allows that core only.
      kernel_.wake(rank.wakes, kernel_.thread(scenario_.in_library && !is_oversubscribed_ ? rank.wakes : id).core);
      ++rank.wakes;
      return wake_next(id);
    case Op::kLook:
      return look(id);
    case Op::kYield:
      return end_yield(id);
    case Op::kMove:
      return observe(id);
    case Op::kAnnounce:
      if (scenario_.in_library) return want_rings(id);
      is_parked_[id] = 1;
      ++sleepers_;
      return next(id, Op::kBarrier, kBarrierNs);
    case Op::kBarrier:
      return next(id, Op::kSecondLook, kLookNs);
    case Op::kSecondLook:
      rank.has_come = scenario_.mutation != Mutation::kNoSecondLook && has_come(id);
      return rank.has_come ? next(id, Op::kWithdraw, kAnnounceNs) : next(id, Op::kPark, kParkNs);
    case Op::kPark:
      rank.by_peer = true;
      next(id, Op::kSleep, kReturnNs);
      ++outcome_.sleeps;
      if (scenario_.in_library ? rings_[id] == rank.seen : is_parked_[id] != 0)
        kernel_.sleep(id, kernel_.now_ns() + (scenario_.in_library ? kSleepsWithRings.after(rank.state.idle_ns())
                                                                   : rank.state.sleep_ns()));
      return;
    case Op::kSleep:
      return next(id, Op::kWithdraw, kAnnounceNs);
    case Op::kWithdraw:
      return end_sleep(id);
    case Op::kBlock:
      return end_wait(id);
  }
}

void World::arrive(uint32_t id) {
  Rank& rank = *ranks_[id];
  counts_[id] = rank.awaited = rank.phase + 1;
  if (scenario_.is_oracle) {
    next(id, Op::kBlock, kLookNs);
    if (!has_come(id)) return kernel_.sleep(id, kNever);
    for (uint32_t peer = 0; peer < scenario_.ranks; ++peer)
      if (ranks_[peer]->op == Op::kBlock) kernel_.wake(peer, 0);
    return;
  }
  // Those who look just now see it with their next look.
  for (uint32_t peer = 0; peer < scenario_.ranks; ++peer)
    if (ranks_[peer]->op == Op::kLook && has_come(peer)) kernel_.shorten(peer, kRelaxedLookNs);
  rank.state.start();
  rank.fresh.reset();
  rank.has_looked = rank.is_to_observe = false;
  if (kernel_.now_ns() - rank.reason_ns >
      (is_oversubscribed_ && !has_short_slices_ ? kGraceOfLongSlicesNs : kGraceNs)) {
    rank.fresh.emplace(policy_);
    rank.fresh->set_slices(has_short_slices_);
    rank.fresh->start();
  }
  if (is_oversubscribed_)
    (void)rank.turn.end(static_cast<int>(kernel_.thread(id).core), kernel_.now_ns(),
                        [&] { return kernel_.thread(id).processor_ns; });
  next(id, Op::kCheck, kCheckNs);
}

// From the rank `wakes` on.
void World::wake_next(uint32_t id) {
  if (scenario_.in_library) return ring_next(id);
  Rank& rank = *ranks_[id];
  while (rank.wakes < scenario_.ranks && (rank.wakes == id || is_parked_[rank.wakes] == 0)) ++rank.wakes;
  if (rank.wakes == scenario_.ranks) return next(id, Op::kLook, kLookNs);
  is_parked_[rank.wakes] = 0;
  blocks_[id].wake_from(static_cast<int>(kernel_.thread(id).core), kernel_.now_ns());
  next(id, Op::kWake, kWakeNs);
}

void World::end_wait(uint32_t id) {
  if (ranks_[id]->wants_rings) withdraw_rings(id);
  if (ranks_[id]->has_looked) ++outcome_.waits;
  if (++ranks_[id]->phase < scenario_.phases[id].size()) return begin_phase(id);
  ++ended_;
  ranks_[id]->op = Op::kBlock;
  kernel_.end(id);
}

// As many looks as there are before anything else is to be done are one step: a rank that arrives cuts it short.
void World::look(uint32_t id) {
  Rank& rank = *ranks_[id];
  if (has_come(id)) return end_wait(id);
  rank.has_looked = true;
  if (std::exchange(rank.is_to_observe, false)) return observe(id);
  if (rank.is_penalised) return observe(id);
  int64_t takes_ns = 0;
  WaitStep step = WaitStep::kLook;
  for (uint32_t looks = 0; looks < WaitState::kLooksPerObservation; ++looks) {
    step = rank.state.step(false);
    if (const WaitStep fresh = rank.fresh ? rank.fresh->step(false) : step; step != WaitStep::kObserve)
      compare(id, step, fresh);
    if (step != WaitStep::kLook && step != WaitStep::kRelax) break;
    takes_ns += look_ns(scenario_, step);
  }
  rank.is_to_observe = step == WaitStep::kObserve;
  if (takes_ns == 0) return rank.is_to_observe ? (rank.is_to_observe = false, observe(id)) : obey(id, step);
  next(id, Op::kLook, takes_ns);
}

void World::observe(uint32_t id) {
  Rank& rank = *ranks_[id];
  const Thread& thread = kernel_.thread(id);
  const bool has_worked =
      !scenario_.in_library && !rank.state.spins() &&
      rank.turn.end(static_cast<int>(thread.core), kernel_.now_ns(), [&] { return thread.processor_ns; });
  const WaitState::View view{kernel_.now_ns(), has_peer_here(id), has_worked, rank.turns.woke_ns(), is_wanted(id)};
  const WaitStep step = rank.is_penalised ? WaitStep::kSleep : rank.state.observe(view);
  if (rank.fresh) compare(id, step, rank.fresh->observe(view));
  if (rank.wants_rings && step != WaitStep::kSleep) withdraw_rings(id);
  obey(id, step);
}

void World::obey(uint32_t id, WaitStep step) {
  Rank& rank = *ranks_[id];
  switch (step) {
    case WaitStep::kYield:
      next(id, Op::kYield, kYieldNs);
      rank.has_yielded = false;
      return;
    case WaitStep::kMove:
      return move(id);
    case WaitStep::kSleep:
      if (scenario_.in_library) return sleep_in_library(id);
      rank.slept_on = static_cast<int>(kernel_.thread(id).core);
      return next(id, Op::kAnnounce, kAnnounceNs);
    default:
      return next(id, Op::kLook, look_ns(scenario_, step));
  }
}

void World::move(uint32_t id) {
  Rank& rank = *ranks_[id];
  next(id, Op::kMove, kMoveNs);
  const auto cores = static_cast<int>(kernel_.cores());
  int target = rank.slept_on;
  if (target < 0 || rank.turns.has_peer_on(target)) {
    target = static_cast<int>(kernel_.thread(id).core);
    int further = 1;
    while (further < cores && rank.turns.has_peer_on((target + further) % cores)) ++further;
    if (further == cores) return;
    target = (target + further) % cores;
  }
  ++outcome_.moves;
  rank.turns.come_to(target);
  kernel_.move(id, static_cast<uint32_t>(target));
}

void World::end_yield(uint32_t id) {
  Rank& rank = *ranks_[id];
  if (!std::exchange(rank.has_yielded, true)) {
    kernel_.thread(id).left_ns = kLookNs;
    return kernel_.yield(id);
  }
  if (scenario_.in_library) return next(id, Op::kLook, kLibraryLookNs);
  const int64_t now_ns = kernel_.now_ns();
  const int64_t before_ns = rank.state.last_ns();
  // A wait that began beside other load, or soon after, is evidence when it ends.
  if (now_ns - before_ns >= OwnTurn::kLongYieldNs && before_ns - rank.reason_ns < kGraceNs) {
    rank.reason_ns = now_ns;
    rank.fresh.reset();
  }
  rank.turn.begin(now_ns);
  const int64_t foreign_ns = rank.turn.foreign_ns(static_cast<int>(kernel_.thread(id).core), before_ns, now_ns);
  const bool has_peer = has_peer_here(id);
  rank.state.yielded(now_ns, now_ns - before_ns, foreign_ns, has_peer);
  if (rank.fresh) rank.fresh->yielded(now_ns, now_ns - before_ns, foreign_ns, has_peer);
  if (scenario_.mutation == Mutation::kEndlessPenalty && foreign_ns != 0) rank.is_penalised = true;
  next(id, Op::kLook, kLookNs);
}

void World::end_sleep(uint32_t id) {
  Rank& rank = *ranks_[id];
  if (scenario_.in_library) return next(id, Op::kLook, kLibraryLookNs);
  is_parked_[id] = 0;
  --sleepers_;
  if (std::exchange(rank.has_come, false)) return end_wait(id);
  rank.turn.begin(kernel_.now_ns());
  const bool has_peer = has_peer_here(id);
  rank.state.woken(kernel_.now_ns(), rank.by_peer, has_peer);
  if (rank.fresh) rank.fresh->woken(kernel_.now_ns(), rank.by_peer, has_peer);
  next(id, Op::kLook, kLookNs);
}

// Reasons are other load, and a peer on the same core, or published there.
void World::note_reasons() {
  for (uint32_t id = 0; id < scenario_.ranks; ++id) {
    bool has_reason = kernel_.has_load();
    const uint32_t core = kernel_.thread(id).core;
    for (uint32_t peer = 0; !has_reason && !is_oversubscribed_ && peer < scenario_.ranks; ++peer)
      has_reason = peer != id && (kernel_.thread(peer).core == core || blocks_[peer].was_on(static_cast<int>(core)));
    if (!has_reason) continue;
    ranks_[id]->reason_ns = kernel_.now_ns();
    ranks_[id]->fresh.reset();
  }
}

void World::compare(uint32_t id, WaitStep mine, WaitStep fresh) {
  ++outcome_.compared;
  if (mine != fresh) fail(id, "a state was kept without a reason");
}

Outcome run(const Scenario& scenario) { return World(scenario).run(); }

}  // namespace hocket::platform::model
