// SPDX-License-Identifier: BSD-3-Clause
// NIC engines that carry out the triggered steps of a job: a group with a member for each of its ranks.
//
// Each engine has a processor of its own, or the core that rings does what follows from it (nic_on_ringing_core). Each
// link carries one packet at a time.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <vector>

#include "simulation/engine/engine.h"
#include "simulation/nic/engines.h"
#include "simulation/nic/surroundings.h"

namespace hocket::simulation {

// What the engines of a job's nodes are to do whenever ranks ring.
struct EnginesCall {
  // The schedule, each member's part of it, and what does the same and lets no member go before all have started it, if
  // that is another one (NicOptions::synchronizing).
  std::vector<std::vector<nic_program>> programs = {};
  std::vector<uint8_t> synchronizing = {};
  std::vector<uint32_t> members = {};  // the rank that rings for each
  engines::nic::NicCall call = {};
};

class JobEngines : public TriggeredEngine, public NicSurroundings {
 public:
  // Engine, job and network outlive it.
  static Result<std::unique_ptr<JobEngines>> make(Engine& engine, const Job& job, const Network& network, uint64_t seed,
                                                  const EnginesCall& call);

  const NicCounts& counts() const { return engines_->counts(); }

  void ring(uint32_t rank, uint32_t step, Time time) override;
  void happen(uint64_t ticket) override;

  Time now() const override { return engine_.now(); }
  void call_at(Time time, uint64_t ticket) override;
  Time carry(const nic_message& packet, uint32_t bytes, Time ready) override;
  void carry_to_all(const nic_message& packet, uint32_t bytes, Time ready, std::vector<Time>& arrivals) override;
  Time work(uint32_t member, Time ready, Time length) override;
  void complete(uint32_t member, uint64_t epoch, Time time) override;

 private:
  static constexpr uint64_t kRing = uint64_t{1} << 63;  // in a ticket, beside the member; otherwise it is the engines'
  // In a ticket of the engines, above theirs: by one more, whose doorbell it follows from. 0: nobody's.
  static constexpr int kRingerBits = 40;
  static constexpr uint32_t kNobody = 0xffffffffu;

  JobEngines(Engine& engine, const Job& job, const Network& network, uint64_t seed, const EnginesCall& call);
  void ring(uint32_t member);
  Time leave(uint32_t source, uint32_t bytes, Time ready);

  Engine& engine_;
  const Job& job_;
  const Network& network_;
  engines::nic::NicCall call_;
  std::vector<uint32_t> ranks_;      // of members
  std::vector<uint32_t> member_of_;  // by rank
  uint64_t seed_;
  uint64_t packets_ = 0;
  std::unique_ptr<NicEngines> engines_;
  std::vector<uint32_t> steps_;        // that each member's rank has rung for
  std::vector<uint32_t> held_up_;      // members' doorbells that were one too many
  std::vector<Time> processors_free_;  // of members, or of ranks whose cores work for all
  uint32_t ringer_ = kNobody;          // whose core works for the engines now
  std::vector<Time> links_free_;
};

}  // namespace hocket::simulation
