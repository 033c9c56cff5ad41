// SPDX-License-Identifier: BSD-3-Clause
// Shared by ranks_model.cc (steps of ranks, and waits for peers) and rings_model.cc (waits in a library).
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/waiting/kernel_model.h"
#include "platform/waiting/own_turn.h"
#include "platform/waiting/ranks_model.h"
#include "platform/waiting/turns.h"
#include "platform/waiting/wait_state.h"
#include "platform/waiting/wake_board.h"

namespace hocket::platform::model {

// Costs of steps.
inline constexpr int64_t kLookNs = 10;
inline constexpr int64_t kRelaxedLookNs = 30;
inline constexpr int64_t kLibraryLookNs = 60;
inline constexpr int64_t kObserveNs = 500;  // with the processor time
inline constexpr int64_t kArriveNs = 20;
inline constexpr int64_t kCheckNs = 5;
inline constexpr int64_t kWakeNs = 2'000;
inline constexpr int64_t kYieldNs = 400;
inline constexpr int64_t kMoveNs = 12'000;
inline constexpr int64_t kAnnounceNs = 30;
inline constexpr int64_t kBarrierNs = 800;
inline constexpr int64_t kParkNs = 300;
inline constexpr int64_t kReturnNs = 200;
inline constexpr int64_t kSliceNs = 3'000'000;
inline constexpr int64_t kShortSliceNs = 300'000;
inline constexpr int64_t kLongestRunNs = 100'000'000'000;
// After a reason has ended, for so long may its state be kept; where slices are long, as long as the yield that has
// shown other load.
inline constexpr int64_t kGraceNs = 1'000'000;
inline constexpr int64_t kGraceOfLongSlicesNs = 5'000'000;

// The step that a rank is in.
enum class Op : uint8_t {
  kWork,
  kLate,
  kArrive,
  kCheck,
  kWake,
  kLook,
  kYield,
  kMove,
  kAnnounce,
  kBarrier,
  kSecondLook,
  kPark,
  kSleep,
  kWithdraw,
  kBlock
};

struct Rank {
  Rank(const WaitPolicy& policy, const std::vector<Turn*>& all, uint32_t own)
      : turns(all, own), turn(&turns, false), state(policy) {}
  Turns turns;
  OwnTurn turn;
  WaitState state;
  std::optional<WaitState> fresh;  // does what `state` does, as long as no reason arises
  Op op = Op::kWork;
  size_t phase = 0;
  uint64_t awaited = 0;        // of each rank's count
  bool has_looked = false;     // and found nothing, in this wait
  bool is_to_observe = false;  // after the looks of this step
  bool has_yielded = false;
  bool has_come = false;  // what it waits for: seen at the second look
  bool by_peer = false;
  uint32_t wakes = 0;  // the rank that it wakes next
  int slept_on = -1;
  int64_t reason_ns = 0;      // when there was last one for any state
  bool is_penalised = false;  // kEndlessPenalty: sleeps at once from now on
  // In a library:
  AwakeTime awake;
  uint32_t seen = 0;  // rings
  bool wants_rings = false;
};

inline WaitPolicy policy_of(const Scenario& scenario) {
  WaitPolicy policy;
  policy.oversubscribed = scenario.ranks > scenario.cores;
  policy.spin_ns = scenario.spin_ns;
  policy.yield_ns = scenario.yield_ns;
  policy.library.is_polled = scenario.in_library;
  policy.library.looks_between_sleeps = kLibraryPollsBetweenSleeps;
  return policy;
}

inline int64_t look_ns(const Scenario& scenario, WaitStep step) {
  return scenario.in_library ? kLibraryLookNs : step == WaitStep::kLook ? kLookNs : kRelaxedLookNs;
}

class World {
 public:
  explicit World(const Scenario& scenario)
      : scenario_(scenario),
        is_oversubscribed_(policy_of(scenario).oversubscribed),
        has_short_slices_(scenario.has_short_slices && is_oversubscribed_),
        chance_(scenario.seed),
        kernel_(scenario.cores, scenario.ranks, scenario.loads, has_short_slices_ ? kShortSliceNs : kSliceNs,
                scenario.is_oracle, chance_),
        policy_(policy_of(scenario)),
        blocks_(scenario.ranks),
        counts_(scenario.ranks),
        is_parked_(scenario.ranks),
        rings_(scenario.ranks),
        rung_ns_(size_t{scenario.ranks} * scenario.ranks, -kNever) {
    std::vector<Turn*> all;
    for (Turn& turn : blocks_) all.push_back(&turn);
    for (uint32_t id = 0; id < scenario.ranks; ++id) {
      ranks_.push_back(std::make_unique<Rank>(policy_, all, id));
      ranks_.back()->state.set_slices(has_short_slices_);
      begin_phase(id);
      kernel_.begin(id, id % scenario.cores);
    }
  }

  Outcome run();

 private:
  void next(uint32_t id, Op op, int64_t takes_ns) {
    ranks_[id]->op = op;
    kernel_.thread(id).left_ns = takes_ns;
  }
  const Phase& phase(uint32_t id) const { return scenario_.phases[id][ranks_[id]->phase]; }
  bool has_come(uint32_t id) const {
    return std::all_of(counts_.begin(), counts_.end(), [&](uint64_t count) { return count >= ranks_[id]->awaited; });
  }
  bool has_peer_here(uint32_t id) {
    if (is_oversubscribed_ || scenario_.mutation == Mutation::kStaysWithPeers) return false;
    const auto core = static_cast<int>(kernel_.thread(id).core);
    ranks_[id]->turns.come_to(core);
    return ranks_[id]->turns.has_peer_on(core);
  }
  void begin_phase(uint32_t id) {
    if (ranks_[id]->phase < scenario_.phases[id].size()) next(id, Op::kWork, phase(id).work_ns + kArriveNs);
  }
  void fail(uint32_t id, const char* what);
  void finish(uint32_t id);
  void arrive(uint32_t id);
  void wake_next(uint32_t id);
  void look(uint32_t id);
  void end_wait(uint32_t id);
  void observe(uint32_t id);
  void obey(uint32_t id, WaitStep step);
  void move(uint32_t id);
  void end_yield(uint32_t id);
  void end_sleep(uint32_t id);
  void compare(uint32_t id, WaitStep mine, WaitStep fresh);
  // In a library:
  bool is_wanted(uint32_t id);
  void sleep_in_library(uint32_t id);
  void want_rings(uint32_t id);
  void withdraw_rings(uint32_t id);
  void ring_next(uint32_t id);
  void note_reasons();

  const Scenario& scenario_;
  bool is_oversubscribed_;
  bool has_short_slices_;
  Chance chance_;
  Kernel kernel_;
  const WaitPolicy policy_;
  std::vector<Turn> blocks_;
  std::vector<uint64_t> counts_;
  std::vector<char> is_parked_;
  uint32_t sleepers_ = 0;         // or ranks that want to be rung
  std::vector<uint32_t> rings_;   // of each rank
  std::vector<int64_t> rung_ns_;  // when each rank last rang each
  uint32_t ended_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
  Outcome outcome_;
};

}  // namespace hocket::platform::model
