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

class JobEngines : public TriggeredEngine, public NicSurroundings {
 public:
  // `program`: each member's part of the one schedule that they carry out. Engine and network outlive it.
  static Result<std::unique_ptr<JobEngines>> make(Engine& engine, const Network& network, uint64_t seed,
                                                  const std::vector<nic_program>& program);

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
  static constexpr uint64_t kRing = uint64_t{1} << 63;  // in a ticket, beside the rank; otherwise it is the engines'
  // In a ticket of the engines, above theirs: by one more, whose doorbell it follows from. 0: nobody's.
  static constexpr int kRingerBits = 40;
  static constexpr uint32_t kNobody = 0xffffffffu;

  JobEngines(Engine& engine, const Network& network, uint64_t seed, size_t members);
  Time leave(uint32_t source, uint32_t bytes, Time ready);

  Engine& engine_;
  const Network& network_;
  uint64_t seed_;
  uint64_t packets_ = 0;
  std::unique_ptr<NicEngines> engines_;
  std::vector<uint32_t> steps_;        // that each rank has rung for
  std::vector<Time> processors_free_;  // of members, or of ranks whose cores work for all
  uint32_t ringer_ = kNobody;          // whose core works for the engines now
  std::vector<Time> links_free_;
};

}  // namespace hocket::simulation
