// SPDX-License-Identifier: BSD-3-Clause
// A NIC engine of a few groups, to be fed with what enemies send: takes datagrams as the agent does and counts them as
// both engines do, but sends nothing.
//
// Thread safety: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "protocol/counters.h"

namespace hocket::test {

// In place of a counter: no packet of the engine's, and passed on uncounted.
inline constexpr uint32_t kPassed = NIC_COUNTERS;
inline constexpr uint32_t kNoGroup = ~uint32_t{0};

struct Victim {
  nic_group group{};
  nic_state state{};
  std::vector<uint32_t> heard;
  uint64_t told = 0;  // operations of which the host has heard that they are complete
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

  explicit VictimEngine(uint64_t seed);

  std::vector<Victim>& groups() { return groups_; }
  const std::vector<Victim>& groups() const { return groups_; }
  const std::array<uint64_t, NIC_COUNTERS>& counters() const { return counters_; }
  // Of one packet.
  Taken take(std::span<const std::byte> datagram);
  // The host begins an operation: its next one.
  nic_outcome start(uint32_t group, uint32_t program) {
    return start(group, program, groups_[group].state.started + 1);
  }
  nic_outcome start(uint32_t group, uint32_t program, uint64_t epoch);
  // The group anew, with operations behind it: few, or so many that rounds have come around.
  void renew(uint32_t group);

 private:
  std::vector<Victim> groups_;
  std::array<uint64_t, NIC_COUNTERS> counters_ = {};
  std::mt19937_64 dice_;
};

// What in a group's state no sequence of packets may lead to; "": nothing is wrong.
std::string flaw_of(const Victim& victim);

}  // namespace hocket::test
