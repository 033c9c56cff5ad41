// SPDX-License-Identifier: BSD-3-Clause
// A NIC engine of a few groups, to be fed with what enemies send: takes datagrams as the agent does and counts them as
// both engines do, but sends nothing.
//
// Thread safety: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "protocol/counters.h"
#include "protocol/page.h"

namespace hocket::test {

// In place of a counter: no packet of the engine's, and passed on uncounted.
inline constexpr uint32_t kPassed = NIC_COUNTERS;
inline constexpr uint32_t kNoGroup = ~uint32_t{0};

struct Victim {
  // Operands beside those of the group: nobody may write there.
  static constexpr size_t kBeside = 2;

  nic_group group{};
  nic_state state{};
  std::vector<uint32_t> signs_of_life;
  std::vector<nic_operand> operands;                 // kBeside, the group's, kBeside
  std::array<nic_operand, NIC_IN_FLIGHT> results{};  // as in a page
  uint64_t reported = 0;                             // operations of which the host has heard that they are complete
  uint64_t published = 0;                            // results that the host has been given

  // 0: of a group without content, which nobody asks for operands.
  uint64_t memory() const { return operands.empty() ? 0 : reinterpret_cast<uintptr_t>(&operands[kBeside]); }
  // Of the operation's index in the window.
  std::span<nic_operand> places(uint64_t epoch) {
    return std::span(operands).subspan(kBeside + nic_index_of(epoch) * group.operands, group.operands);
  }
};

struct Taken {
  uint32_t counter = kPassed;
  uint32_t group = kNoGroup;  // set where the tag was right
  nic_message message{};
  nic_outcome outcome{};
};

class VictimEngine {
 public:
  static constexpr uint32_t kGroups = 4;
  // One has no content.
  static constexpr uint32_t kBarriersOnly = 2;

  explicit VictimEngine(uint64_t seed);

  std::vector<Victim>& groups() { return groups_; }
  const std::vector<Victim>& groups() const { return groups_; }
  const std::array<uint64_t, NIC_COUNTERS>& counters() const { return counters_; }
  // Of one packet.
  Taken take(std::span<const std::byte> datagram);
  // The host begins an operation, by any doorbell.
  nic_outcome start(uint32_t group, const nic_message& doorbell, const nic_operand& operand);
  // The group anew, with operations behind it: few, or so many that rounds have come around.
  void renew(uint32_t group);

 private:
  // Also counts as complete what has been published by it.
  static void publish(Victim& victim, const nic_message& cause, nic_outcome& outcome);

  std::vector<Victim> groups_;
  std::array<uint64_t, NIC_COUNTERS> counters_ = {};
  std::mt19937_64 dice_;
};

// The words that a packet of so many bytes carries; -1: no packet has that length.
int words_of_length(size_t bytes);
// As a packet or a ring can say it: fields that are narrower there are cut off.
nic_message as_sent(const nic_message& message);

inline bool is_same(const nic_state& one, const nic_state& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// What in a group's state no sequence of packets may lead to; "": nothing is wrong.
std::string flaw_of(const Victim& victim);

}  // namespace hocket::test
