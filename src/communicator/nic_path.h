// SPDX-License-Identifier: BSD-3-Clause
// What NIC engines do for a communicator of several nodes: they carry out the messages between nodes of its short
// collectives, one member a node, the node's first rank. What runs is the schedule that would have run by messages; but
// an allgather is an allreduction of rows, and for another root than 0 it is root 0's, and one message more.
//
// All ranks decide alike: by what they have told each other, and by plans, which are the same everywhere.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "communicator/context.h"
#include "engines/nic/trigger.h"
#include "engines/shared_memory/layout.h"
#include "schedule/nodes.h"
#include "selection/choice.h"

namespace hocket::communicator {

class NicPath {
 public:
  enum class Wish : uint8_t { kAutomatic, kOn, kOff };  // in the order of HOCKET_NIC's words

  // What a rank tells of itself. Plain bytes: it goes to all ranks.
  struct Offer {
    uint32_t ip = 0;  // big-endian, these two: where its engine is reached; 0: it has none
    uint16_t port = 0;
    bool is_agent = false;
    Wish wish = Wish::kAutomatic;  // rank 0's counts, as do the next three
    bool combines_on_arrival = false;
    uint64_t id = 0;  // of the group, and the next ones of the other tracks' groups
    nic_key key = {};
    char reason[160] = {};  // why it has no engine
  };
  static Result<Offer> offer(Context& context, bool is_first);

  // Which engines there are; `why_not` says why they aren't used.
  static std::unique_ptr<NicPath> find(const std::vector<Offer>& offers, const schedule::Nodes& nodes, uint32_t rank,
                                       std::string& why_not);
  // What the engines shall hold, to be called before join(). `barrier`, the same on all ranks, is the choice for a
  // barrier, which comes before all others; nullptr: none is known. Gives "", or why no barrier can be held.
  std::string hold_programs(const selection::Choice* barrier);
  // Makes the groups on a rank that stands for its node; does nothing on others.
  Status join(Context& context);

  // Of a track; nullptr on ranks that don't stand for their nodes.
  engines::nic::Trigger* trigger(uint32_t track) const { return triggers_[track].get(); }
  // The rank whose engine or process has ended a group; all ones: none that is known.
  uint32_t culprit() const;
  // The communicator fails: its other nodes are told. False: they can't be, since this node's engine has gone.
  bool tell_failure();
  // A call as engines look at it, the same on all ranks.
  struct Call {
    schedule::Collective collective = schedule::Collective::kBarrier;
    uint8_t operation = 0;  // engines/nic/operation_name.h
    uint64_t bytes = 0;     // of a block, where there is one a rank
    uint32_t root = 0;
  };
  // Whether engines could do it, by whatever algorithm.
  bool may_carry(const Call& call) const;
  // The plan of `shape` with one step in the place of those that the engine carries out; nothing if it has no program
  // for the choice.
  std::optional<schedule::Plan> plan(const selection::Choice& choice, const Call& call, schedule::Shape shape) const;
  std::string explain(const selection::Choice& choice, const Call& call) const;

 private:
  // An algorithm as the engines hold it.
  struct Held {
    const algorithms::Algorithm* algorithm;
    uint32_t degree;

    bool operator==(const Held&) const = default;
  };
  // The number of its program, and whether one that synchronizes follows.
  struct Program {
    Held held;
    uint8_t number;
    bool has_twin;
    bool on_arrival;
  };
  NicPath(const std::vector<Offer>& offers, const schedule::Nodes& nodes, uint32_t rank);
  void set_why_not(std::string why) {
    if (why_not_.empty()) why_not_ = std::move(why);
  }
  uint64_t words_of(const Call& call) const;
  Status can_hold(const Held& wanted, bool has_twin, bool on_arrival) const;
  void hold(Held wanted);
  std::optional<Held> between_nodes(const selection::Choice& choice) const;
  // That does what the choice does between nodes; nullptr: none.
  const Program* program_of(const selection::Choice& choice) const;
  schedule::Plan plan_of(const Held& held, uint32_t member) const;

  const schedule::Nodes& nodes_;
  uint32_t rank_;
  std::vector<engines::nic::Address> members_;
  uint64_t id_;
  nic_key key_;
  bool combines_on_arrival_;
  std::vector<Program> programs_;
  uint32_t next_program_ = 0;
  std::string why_not_;  // an algorithm, or some degree of it, is not held: of the first such
  std::array<std::unique_ptr<engines::nic::Trigger>, engines::shared_memory::kLanes> triggers_;
};

}  // namespace hocket::communicator
