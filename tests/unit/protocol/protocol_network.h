// SPDX-License-Identifier: BSD-3-Clause
// NIC engines on a network that is made of a queue: packets are lost, doubled and overtaken by the dice of a seed, and
// time passes when it is told to.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "engines/nic/stage_table.h"
#include "protocol/watch.h"
#include "schedule/plan.h"

namespace hocket::test {

struct Odds {
  double loss = 0;
  double duplicate = 0;
  bool reorder = false;
  uint64_t delay_ns = 0;  // of each packet
};

class ProtocolNetwork {
 public:
  static constexpr uint64_t kTickNs = 1'000'000;

  // One engine for each of the programs, which are all members' parts of one collective.
  ProtocolNetwork(const std::vector<nic_program>& programs, Odds odds, uint64_t seed)
      : ProtocolNetwork(std::vector<std::vector<nic_program>>{programs}, odds, seed) {}
  // The same with several collectives, which are programs 0, 1, ...
  ProtocolNetwork(const std::vector<std::vector<nic_program>>& collectives, Odds odds, uint64_t seed);

  uint32_t size() const { return static_cast<uint32_t>(engines_.size()); }
  // The host rings; what happened.
  nic_verdict start(uint32_t member) { return start(member, engines_[member]->state.started + 1); }
  nic_verdict start(uint32_t member, uint64_t epoch);
  // The same by any doorbell: its epoch, program and call.
  nic_verdict start(uint32_t member, const nic_message& doorbell, const nic_operand& operand);
  // What the host has been given of an operation; nullptr: nothing yet.
  const nic_operand* result(uint32_t member, uint64_t epoch) const;
  // Operations ahead of the host for which engines keep operands.
  void keep_unexpected(uint16_t operations);
  // How long a member may be silent.
  void allow_silence(uint64_t silence_ns);
  // As if so many operations were behind all, without acknowledgements; to be called before the first.
  void begin_after(uint64_t epoch);
  // What has become of packets.
  uint64_t count(nic_verdict verdict) const { return verdicts_[verdict]; }
  // Delivers one packet; false: none is under way, or none that has come yet.
  bool deliver();
  // All that has come is delivered, then a millisecond passes everywhere.
  void settle_and_tick();
  // What came to a member as the network carries it, once more.
  nic_outcome inject(const nic_message& message) { return inject(message, message.target); }
  nic_outcome inject(const nic_message& message, uint32_t member) { return take(*engines_[member], message, {}); }
  // Packets for all.
  uint64_t broadcasts() const { return broadcasts_; }
  // From now on, packets of which it is true are lost.
  void lose(std::function<bool(const nic_message&)> is_lost) { is_lost_ = std::move(is_lost); }
  uint64_t now_ns() const { return now_ns_; }
  // Whether a message of the schedule has gone out more than once.
  bool has_repeated() const;
  // A member's engine answers no more.
  void kill(uint32_t member) { engines_[member]->is_dead = true; }

  const nic_state& state(uint32_t member) const { return engines_[member]->state; }
  uint64_t started(uint32_t member) const { return engines_[member]->state.started; }
  uint64_t completed(uint32_t member) const { return engines_[member]->state.completed; }
  // What has been told to the host, which must be what is complete.
  uint64_t reported(uint32_t member) const { return engines_[member]->reported; }
  uint64_t sent(nic_kind kind) const { return sent_[kind]; }
  uint64_t sent() const;
  const std::vector<nic_message>& history() const { return history_; }
  // Asked after each event: whether anybody has completed what somebody has not started.
  bool was_always_a_barrier() const { return was_always_a_barrier_; }

 private:
  struct Engine {
    nic_group group{};
    nic_state state{};
    nic_watch watch{};
    std::vector<nic_watched_member> members;
    std::vector<uint32_t> signs_of_life;
    std::vector<nic_operand> operands;
    std::map<uint64_t, nic_operand> results;
    uint64_t reported = 0;
    bool is_dead = false;
    ProtocolNetwork* network = nullptr;
    uint64_t memory() const { return reinterpret_cast<uintptr_t>(operands.data()); }
  };
  nic_outcome take(Engine& engine, const nic_message& message, const nic_operand& operand);
  void act(Engine& engine, const nic_outcome& outcome, const nic_message& cause);
  void carry(const nic_message& message, const nic_operand& operand, uint32_t member);
  void send(const nic_message& message, const nic_operand& operand = {});
  void look_at(uint64_t epoch);

  std::vector<std::unique_ptr<Engine>> engines_;
  struct Packet {
    nic_message message;
    nic_operand operand;
    uint32_t member;  // who gets it
    uint64_t at_ns;   // not before
  };
  std::deque<Packet> under_way_;
  uint64_t broadcasts_ = 0;
  std::vector<nic_message> history_;
  uint64_t sent_[NIC_KINDS] = {};
  uint64_t verdicts_[NIC_VERDICTS] = {};
  uint64_t now_ns_ = 0;
  Odds odds_;
  std::function<bool(const nic_message&)> is_lost_;
  std::mt19937_64 dice_;
  bool was_always_a_barrier_ = true;
};

// As engines get them.
nic_message message_of(nic_kind kind, uint64_t epoch, uint32_t source, uint32_t target, uint8_t program = 0,
                       uint8_t bit = 0, uint8_t send = 0);

// A barrier's plans, and all members' parts of it as the engines hold them.
std::function<schedule::Plan(uint32_t)> plans_of(const char* name, uint32_t size, uint32_t degree = 0);
std::vector<nic_program> programs_of(uint32_t size, const std::function<Result<nic_program>(uint32_t)>& table_of);
std::vector<nic_program> programs_of(const char* name, uint32_t size, engines::nic::Mode mode, uint32_t degree = 0);

// How many of them show that a lossy wire loses none. Sanitizers see the same with fewer.
#ifdef HOCKET_SANITIZED
constexpr uint64_t kBarriersUnderLoss = 60;
#else
constexpr uint64_t kBarriersUnderLoss = 250;
#endif

// Hosts that begin whenever they may, in an order of the dice, until all have `rounds` behind them. Expects that all
// get there, are told so, and that each operation was a barrier.
void run_barriers(ProtocolNetwork& network, uint64_t rounds, uint64_t seed);

}  // namespace hocket::test
