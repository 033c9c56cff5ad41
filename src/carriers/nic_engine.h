// SPDX-License-Identifier: BSD-3-Clause
// NIC engines as a communicator's: they carry out the messages between nodes of its short collectives, one member a
// node, the node's first rank. What runs is the schedule that would have run by messages; but an allgather is an
// allreduction of rows, and for another root than 0 it is root 0's, and one message more.
//
// All ranks decide alike: by their offers, and by plans, which are the same everywhere.
//
// Thread safety: as carriers/engine.h has it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "carriers/nic_programs.h"
#include "carriers/nic_type.h"
#include "engines/nic/group_carrier.h"
#include "engines/shared_memory/layout.h"

namespace hocket::carriers {

class NicEngine : public Engine {
 public:
  // Which engines there are; nullptr: they aren't used, and `why_not` says why.
  static std::unique_ptr<NicEngine> find(NicType* type, const std::vector<NicOffer>& offers,
                                         const schedule::Nodes& nodes, uint32_t rank, std::string& why_not);
  // What the engines shall hold, to be called before join(). Gives as NicPrograms::fill().
  std::string hold_programs(const Choices& choices);

  // Makes the groups on a rank that stands for its node; does nothing on others.
  Status join() override;
  std::string describe() const override { return "used"; }
  bool carries(const engines::Instruction& step, const engines::Program& program) const override;
  bool may_carry(const EngineCall& call) const override;
  const char* wire() const override { return kNicWire; }
  // With one step in the place of those that the engine carries out.
  std::optional<schedule::Plan> plan(const selection::Choice& choice, const EngineCall& call,
                                     const schedule::Shape& shape) const override;
  Status prepare(const Choices& choices) override;
  void adopt(bool is_used) override;
  bool runs_by_itself() const override { return nodes_.most() == 1; }
  std::string explain(const selection::Choice& choice, const EngineCall& call) const override;
  bool takes_part() const override { return groups_[0] != nullptr; }
  engines::Carrier& carrier(uint32_t track, engines::wire::Channel&) override { return *groups_[track]; }
  uint32_t culprit() const override;
  bool reports_failures() const override { return true; }
  bool report_failure() override;

 private:
  static constexpr size_t kTracks = engines::shared_memory::kLanes;
  NicEngine(NicType* type, const std::vector<NicOffer>& offers, const schedule::Nodes& nodes, uint32_t rank);

  // Joins groups with these programs beside those there are; then they are the tracks'.
  Status join_groups(const NicPrograms& programs);
  void take_groups();

  NicType* type_;
  const schedule::Nodes& nodes_;
  uint32_t rank_;
  std::vector<engines::nic::Address> members_;
  uint64_t id_;
  nic_key key_;
  bool is_required_;
  NicPrograms no_programs_;
  bool combines_on_arrival_;
  NicPrograms programs_;
  uint64_t generation_ = 0;  // of groups
  // Between prepare() and adopt().
  std::optional<NicPrograms> prepared_;
  std::array<std::unique_ptr<engines::nic::NicGroup>, kTracks> joined_;
  // Of the tracks; none on ranks that don't stand for their nodes.
  std::array<std::unique_ptr<engines::nic::GroupCarrier>, kTracks> groups_;
};

}  // namespace hocket::carriers
