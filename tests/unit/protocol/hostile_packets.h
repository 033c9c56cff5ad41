// SPDX-License-Identifier: BSD-3-Clause
// What enemies send to a NIC engine: noise of those who have no key, packets that are signed and wrong, and what a
// member might send to harm its group; and what a job may ring.
//
// Thread safety: one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "victim_engine.h"

namespace hocket::test {

// In place of a counter: what it will be counted under depends on what has come before.
inline constexpr uint32_t kAnyCounter = ~uint32_t{0};

struct HostilePacket {
  std::array<std::byte, NIC_MOST_PACKET_BYTES + 24> bytes{};
  size_t length = NIC_HEADER_BYTES;
  uint32_t expected = kAnyCounter;  // a counter, or kPassed
  const char* what = "";

  std::span<const std::byte> datagram() const { return std::span(bytes).first(length); }
};

class HostilePackets {
 public:
  // Knows the engine's groups and where they are, as a member of all of them could.
  HostilePackets(const VictimEngine& engine, uint64_t seed) : engine_(engine), dice_(seed) {}

  // Of somebody without a key: is counted under what is expected, and changes nothing.
  HostilePacket noise();
  // Signed for `group`, which is not broken, and wrong in one field: the same.
  HostilePacket malformed(uint32_t group);
  // Signed, each field right, random or at a limit.
  HostilePacket random_fields(uint32_t group);
  // Of a member with the key: what harms most, and what has gone before once more.
  HostilePacket misbehaving(uint32_t group);
  // What a host may ring: mostly the operation that is due.
  nic_message doorbell(uint32_t group);
  // The same with any field wrong.
  nic_message wild_doorbell(uint32_t group);
  nic_operand operand();
  uint64_t below(uint64_t limit) { return dice_() % limit; }

 private:
  struct Spoilt {
    nic_message message;
    uint32_t expected;
    const char* what;
  };
  // Right in every field: from one of the program's arrivals, or for one of its sends.
  nic_message message_of(const Victim& victim, uint32_t program) { return message_of(victim, program, near(victim)); }
  nic_message message_of(const Victim& victim, uint32_t program, uint64_t epoch);
  nic_message about_send(const Victim& victim, uint32_t program, uint8_t kind, uint64_t epoch);
  nic_message any_of(const Victim& victim);
  // Gives it the operation's call if there is one that its program can do, else one by chance.
  void set_call(const Victim& victim, nic_message& message);
  void set_random_call(const Victim& victim, nic_message& message);
  // From whom that is right, and what it carries; false: such an arrival there is not.
  bool set_arrival(const Victim& victim, nic_message& message, uint8_t bit);
  Spoilt spoil_any(const Victim& victim);
  Spoilt spoil_message(const Victim& victim);
  Spoilt spoil_call(const Victim& victim);
  Spoilt spoil_content(const Victim& victim);
  Spoilt spoil_nack(const Victim& victim);
  Spoilt spoil_ack(const Victim& victim);
  Spoilt spoil_answer(const Victim& victim);
  Spoilt spoil_abort(const Victim& victim);
  Spoilt spoil_result(const Victim& victim);
  Spoilt repeat_operand(const Victim& victim);
  Spoilt change_call(const Victim& victim);
  void make_unsound(const Victim& victim, nic_message& message);
  HostilePacket flipped();
  // Not complete, and in the window.
  uint64_t near(const Victim& victim);
  uint64_t far_ahead(uint64_t epoch);
  uint64_t some_epoch(const Victim& victim);
  uint16_t other_member(const Victim& victim, uint32_t member);
  uint32_t program_with(const Victim& victim, uint8_t flag);
  uint32_t program_of_epoch(const Victim& victim, uint64_t epoch);
  uint8_t some_byte(uint8_t right);
  // Carries random words.
  HostilePacket signed_by(const Victim& victim, const nic_message& message);
  HostilePacket replayed();
  HostilePacket remember(const HostilePacket& packet);

  const VictimEngine& engine_;
  std::mt19937_64 dice_;
  std::array<HostilePacket, 256> earlier_{};
  uint64_t remembered_ = 0;
};

}  // namespace hocket::test
