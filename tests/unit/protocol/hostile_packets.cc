// SPDX-License-Identifier: BSD-3-Clause
#include "hostile_packets.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hocket::test {
namespace {

constexpr uint8_t kFirstUnknownKind = NIC_KINDS;
constexpr uint32_t kNoVote = 0;  // a program of each group

}  // namespace

HostilePacket HostilePackets::signed_by(const Victim& victim, const nic_message& message) {
  HostilePacket packet;
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, nic_tag(&victim.group.key, &message), words);
  std::memcpy(packet.bytes.data(), words, sizeof words);
  return packet;
}

nic_message HostilePackets::message_of(const Victim& victim, uint32_t program) {
  const nic_program& p = victim.group.program[program];
  const auto bit = static_cast<uint8_t>(below(p.arrivals));
  nic_message message = {victim.group.id,
                         victim.state.completed + 1 + below(NIC_WINDOW),
                         p.arrival[bit].member,
                         victim.group.self,
                         NIC_MESSAGE,
                         static_cast<uint8_t>(program),
                         bit,
                         p.arrival[bit].send,
                         0,
                         0,
                         0};
  return message;
}

nic_message HostilePackets::about_send(const Victim& victim, uint32_t program, uint8_t kind) {
  const nic_program& p = victim.group.program[program];
  const auto send = static_cast<uint8_t>(below(p.sends));
  nic_message message = message_of(victim, program);
  message.kind = kind;
  message.source = p.send[send].member != NIC_ALL ? p.send[send].member : other_member(victim, victim.group.self);
  message.send = send;
  message.bit = p.send[send].bit;
  return message;
}

nic_message HostilePackets::any_of(const Victim& victim) {
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const auto kind = static_cast<uint8_t>(NIC_MESSAGE + below(NIC_KINDS - 1));
  if (kind == NIC_NACK || kind == NIC_ACK) return about_send(victim, program, kind);
  nic_message message = message_of(victim, kind == NIC_VETO ? program_with(victim, NIC_VOTES) : program);
  message.kind = kind;
  if (kind == NIC_ABORT) {
    message.bit = static_cast<uint8_t>(1 + below(NIC_CAUSES - 1));
    message.send = 0;
    message.count = static_cast<uint8_t>(below(victim.group.size));
  }
  return message;
}

uint64_t HostilePackets::far_ahead(uint64_t epoch) {
  const uint64_t choices[] = {
      epoch + 1,    epoch + 2 + below(1000),  epoch + uint64_t{NIC_WINDOW} * NIC_ROUNDS, uint64_t{1} << 63,
      ~uint64_t{0}, epoch + 1 + below(~epoch)};
  return choices[below(std::size(choices))];
}

uint16_t HostilePackets::other_member(const Victim& victim, uint32_t member) {
  return static_cast<uint16_t>((member + 1 + below(victim.group.size - 1u)) % victim.group.size);
}

uint32_t HostilePackets::program_with(const Victim& victim, uint8_t flag) {
  for (;;) {
    const auto program = static_cast<uint32_t>(below(victim.group.programs));
    if ((victim.group.program[program].flags & flag) != 0) return program;
  }
}

// --- without a key ---------------------------------------------------------------------------------------------------

HostilePacket HostilePackets::flipped() {
  const Victim& victim = engine_.groups()[below(VictimEngine::kGroups)];
  const nic_message message = any_of(victim);
  HostilePacket packet = signed_by(victim, message);
  const uint64_t bit = below(uint64_t{8} * NIC_HEADER_BYTES);
  packet.bytes[bit / 8] ^= std::byte{1} << bit % 8;
  constexpr uint64_t kKindAt = 5;  // bytes
  constexpr uint64_t kProgramAt = 6;
  constexpr uint64_t kGroupAt = 8;
  constexpr uint64_t kEpochAt = 16;
  const bool is_known = bit / 8 >= kKindAt && packet.bytes[kKindAt] != std::byte{0};
  const bool is_group = bit / 8 >= kGroupAt && bit / 8 < kEpochAt;
  packet.expected = bit / 8 < kProgramAt && !is_known ? kPassed : uint32_t{is_group ? NIC_NO_GROUP : NIC_BAD_TAG};
  packet.what = "a bit flipped";
  return packet;
}

HostilePacket HostilePackets::noise() {
  const uint32_t whose = static_cast<uint32_t>(below(VictimEngine::kGroups));
  const Victim& victim = engine_.groups()[whose];
  HostilePacket packet = signed_by(victim, any_of(victim));
  const HostilePacket good = packet;
  // Whole words at a time: from byte `first` on.
  const auto randomize = [&](size_t first) {
    for (size_t at = first; at + 8 <= packet.bytes.size(); at += 8) {
      const uint64_t word = dice_();
      std::memcpy(&packet.bytes[at], &word, sizeof word);
    }
  };
  switch (below(7)) {
    case 0:
      randomize(0);
      packet.expected = kPassed;
      packet.what = "random bytes";
      break;
    case 1:
      randomize(0);
      std::memcpy(packet.bytes.data(), good.bytes.data(), 8);
      packet.expected = NIC_NO_GROUP;
      packet.what = "a random group";
      break;
    case 2:
      randomize(16);
      packet.expected = NIC_BAD_TAG;
      packet.what = "random fields of a group";
      break;
    case 3:
      randomize(below(2) == 0 ? 0 : NIC_HEADER_BYTES);
      packet.length = below(NIC_HEADER_BYTES);
      if (below(2) == 0) packet.length = NIC_HEADER_BYTES + 1 + below(packet.bytes.size() - NIC_HEADER_BYTES);
      packet.expected = NIC_BAD_LENGTH;
      packet.what = "another length";
      break;
    case 4: {
      nic_message message = any_of(victim);
      packet =
          signed_by(engine_.groups()[(whose + 1 + below(VictimEngine::kGroups - 1)) % VictimEngine::kGroups], message);
      packet.expected = NIC_BAD_TAG;
      packet.what = "another group's key";
      break;
    }
    case 5:
      randomize(NIC_HEADER_BYTES - 8);
      packet.expected = NIC_BAD_TAG;
      packet.what = "a random tag";
      break;
    default:
      return flipped();
  }
  return packet;
}

// --- signed and wrong ------------------------------------------------------------------------------------------------

HostilePackets::Spoilt HostilePackets::spoil_any(const Victim& victim) {
  nic_message message = any_of(victim);
  switch (below(6)) {
    case 0:
      message.target = other_member(victim, victim.group.self);
      return {message, NIC_MISDIRECTED, "another's"};
    case 1:
      message.target = static_cast<uint16_t>(victim.group.size + below(uint64_t{NIC_ALL} - victim.group.size));
      return {message, NIC_MISDIRECTED, "nobody's"};
    case 2:
      message.source = static_cast<uint16_t>(victim.group.size + below(1u + UINT16_MAX - victim.group.size));
      return {message, NIC_NOT_EXPECTED, "from nobody"};
    case 3:
      message.source = victim.group.self;
      return {message, NIC_NOT_EXPECTED, "from oneself"};
    case 4:
      message.kind = 0;
      return {message, kPassed, "of no kind"};
    default:
      message.kind = static_cast<uint8_t>(kFirstUnknownKind + below(256 - kFirstUnknownKind));
      return {message, NIC_UNKNOWN_KIND, "of an unknown kind"};
  }
}

HostilePackets::Spoilt HostilePackets::spoil_message(const Victim& victim) {
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const nic_program& p = victim.group.program[program];
  nic_message message = message_of(victim, program);
  const nic_state& state = victim.state;
  switch (below(9)) {
    case 0:
      message.program = static_cast<uint8_t>(victim.group.programs + below(256u - victim.group.programs));
      return {message, NIC_NO_PROGRAM, "of no program"};
    case 1:
      message.bit = static_cast<uint8_t>(p.arrivals + below(256u - p.arrivals));
      return {message, NIC_NOT_EXPECTED, "a bit too high"};
    case 2:
      message.send = static_cast<uint8_t>(message.send + 1 + below(255));
      return {message, NIC_NOT_EXPECTED, "another send"};
    case 3:
      message.source = other_member(victim, message.source);
      return {message, NIC_NOT_EXPECTED, "another source"};
    case 4:
      message.epoch = far_ahead(state.completed + NIC_WINDOW);
      return {message, NIC_EARLY, "too early"};
    case 5:
      message.epoch = below(state.completed + 1);
      return {message, NIC_STALE, "of what is over"};
    case 6:
      message = message_of(victim, kNoVote);
      message.kind = NIC_VETO;
      return {message, NIC_NOT_EXPECTED, "a veto where nobody votes"};
    case 7:
      message = message_of(victim, kNoVote);
      message.target = NIC_ALL;
      return {message, NIC_NOT_EXPECTED, "for all where nobody votes"};
    default:
      break;
  }
  // An operation that has begun here, by another program.
  if (state.started == state.completed) return spoil_any(victim);
  message.epoch = state.completed + 1 + below(state.started - state.completed);
  if (nic_program_of(state.record[message.epoch % NIC_WINDOW]) == program) return spoil_any(victim);
  return {message, NIC_DISAGREEMENT, "another program"};
}

HostilePackets::Spoilt HostilePackets::spoil_nack(const Victim& victim) {
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const nic_program& p = victim.group.program[program];
  nic_message message = about_send(victim, program, NIC_NACK);
  switch (below(5)) {
    case 0:
      message.send = static_cast<uint8_t>(p.sends + below(256u - p.sends));
      return {message, NIC_NOT_EXPECTED, "asks for a send too high"};
    case 1:
      message.bit = static_cast<uint8_t>(message.bit + 1 + below(255));
      return {message, NIC_NOT_EXPECTED, "asks for another bit"};
    case 2:
      if (p.send[message.send].member == NIC_ALL) return spoil_any(victim);
      message.source = other_member(victim, message.source);
      return {message, NIC_NOT_EXPECTED, "asks for another's"};
    case 3:
      message.epoch = far_ahead(victim.state.completed + NIC_WINDOW);
      return {message, NIC_EARLY, "asks too early"};
    default:
      message.epoch = victim.state.completed < 2 * NIC_WINDOW ? 0 : below(victim.state.completed - 2 * NIC_WINDOW + 1);
      return {message, NIC_STALE, "asks too late"};
  }
}

HostilePackets::Spoilt HostilePackets::spoil_ack(const Victim& victim) {
  const nic_program& p = victim.group.program[program_with(victim, NIC_ACKNOWLEDGED)];
  nic_message message = about_send(victim, static_cast<uint32_t>(&p - victim.group.program), NIC_ACK);
  const uint64_t started = victim.state.started;
  constexpr uint64_t kHalfRound = uint64_t{NIC_WINDOW} * NIC_ROUNDS / 2;
  switch (below(6)) {
    case 0:
      message.send = static_cast<uint8_t>(p.sends + below(256u - p.sends));
      return {message, NIC_NOT_EXPECTED, "acknowledges a send too high"};
    case 1:
      message.source = other_member(victim, message.source);
      return {message, NIC_NOT_EXPECTED, "acknowledges another's"};
    case 2:
      message = about_send(victim, kNoVote, NIC_ACK);
      return {message, NIC_NOT_EXPECTED, "acknowledges what needs it not"};
    case 3:
      message.epoch = far_ahead(started);
      return {message, NIC_EARLY, "acknowledges too early"};
    case 4:
      message.epoch = started < kHalfRound + NIC_WINDOW ? 0 : started - kHalfRound - NIC_WINDOW - below(NIC_WINDOW);
      if (message.epoch > started) message.epoch = 0;
      return {message, NIC_STALE, "acknowledges what was half the rounds ago"};
    default:
      message.epoch = started < NIC_WINDOW ? 0 : below(started - NIC_WINDOW + 1);
      return {message, NIC_STALE, "acknowledges too late"};
  }
}

HostilePackets::Spoilt HostilePackets::spoil_abort(const Victim& victim) {
  nic_message message = message_of(victim, 0);
  message.kind = NIC_ABORT;
  message.bit = static_cast<uint8_t>(1 + below(NIC_CAUSES - 1));
  uint64_t member = below(victim.group.size);
  const bool has_cause = below(2) == 0;
  if (has_cause) {
    member = victim.group.size + below(1u + UINT16_MAX - victim.group.size);
  } else {
    message.bit = below(2) == 0 ? uint8_t{0} : static_cast<uint8_t>(NIC_CAUSES + below(256 - NIC_CAUSES));
  }
  message.send = static_cast<uint8_t>(member >> 8);
  message.count = static_cast<uint8_t>(member);
  return {message, NIC_NOT_EXPECTED, has_cause ? "an end by nobody" : "an end for no cause"};
}

HostilePacket HostilePackets::malformed(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  using Spoil = Spoilt (HostilePackets::*)(const Victim&);
  constexpr Spoil kWays[] = {&HostilePackets::spoil_any, &HostilePackets::spoil_message, &HostilePackets::spoil_nack,
                             &HostilePackets::spoil_ack, &HostilePackets::spoil_abort};
  const Spoilt spoilt = (this->*kWays[below(std::size(kWays))])(victim);
  HostilePacket packet = signed_by(victim, spoilt.message);
  packet.expected = spoilt.expected;
  packet.what = spoilt.what;
  return packet;
}

// --- of those who know more ------------------------------------------------------------------------------------------

uint64_t HostilePackets::some_epoch(const Victim& victim) {
  const nic_state& state = victim.state;
  const uint64_t choices[] = {0,
                              1,
                              state.completed,
                              state.completed + 1,
                              state.completed + NIC_WINDOW,
                              state.started,
                              state.started + 1,
                              far_ahead(state.completed),
                              below(state.started + 1),
                              state.completed - below(3 * NIC_WINDOW)};
  return choices[below(std::size(choices))];
}

HostilePacket HostilePackets::random_fields(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  nic_message message = any_of(victim);
  const auto byte = [&](uint8_t& field) {
    const uint8_t choices[] = {field, field, 0, 255, static_cast<uint8_t>(dice_())};
    field = choices[below(std::size(choices))];
  };
  const auto member = [&](uint16_t& field) {
    const auto random = static_cast<uint16_t>(dice_());
    const uint16_t choices[] = {field, field, field, 0, UINT16_MAX, victim.group.self, victim.group.size, random};
    field = choices[below(std::size(choices))];
  };
  for (uint8_t* field :
       {&message.program, &message.bit, &message.send, &message.operation, &message.type, &message.count})
    byte(*field);
  // An end that is right ends all else.
  if (message.kind == NIC_ABORT) message.bit = 0;
  if (below(8) == 0 && message.kind != NIC_ABORT) message.kind = static_cast<uint8_t>(NIC_KINDS + below(200));
  member(message.source);
  member(message.target);
  if (below(2) == 0) message.epoch = some_epoch(victim);
  HostilePacket packet = signed_by(victim, message);
  packet.what = "random fields";
  return remember(packet);
}

HostilePacket HostilePackets::remember(const HostilePacket& packet) {
  earlier_[remembered_++ % earlier_.size()] = packet;
  return packet;
}

HostilePacket HostilePackets::misbehaving(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  nic_message message = message_of(victim, program);
  const uint64_t what = below(1000);
  if (what >= 900 && remembered_ != 0) {
    HostilePacket packet = earlier_[below(std::min<uint64_t>(remembered_, earlier_.size()))];
    packet.what = "a replay";
    return packet;
  }
  if (what < 300) {
    // What brings operations on: as they would come.
    const uint64_t epoch = victim.state.completed + 1;
    const uint64_t word = nic_look(&victim.state.record[epoch % NIC_WINDOW], epoch);
    message = message_of(victim, (word & NIC_EVENTS) != 0 ? static_cast<uint32_t>(nic_program_of(word)) : program);
    message.epoch = epoch;
    if (message.program == program_with(victim, NIC_VOTES)) {
      if (below(2) == 0) message.target = NIC_ALL;
      if (below(4) == 0) message.kind = NIC_VETO;
    }
  } else if (what < 600) {
    message = about_send(victim, program, NIC_NACK);
    message.epoch = victim.state.completed + NIC_WINDOW - below(3 * NIC_WINDOW + 1);
  } else if (what < 800) {
    message = about_send(victim, program_with(victim, NIC_ACKNOWLEDGED), NIC_ACK);
    message.epoch = victim.state.started + 1 - below(NIC_WINDOW + 8);
  } else if (what < 850) {
    message.kind = below(2) == 0 ? NIC_PROBE : NIC_ALIVE;
    message.epoch = some_epoch(victim);
  } else if (what == 899) {
    while (message.kind != NIC_ABORT) message = any_of(victim);
  }
  HostilePacket packet = signed_by(victim, message);
  packet.what = "of a member";
  return remember(packet);
}

}  // namespace hocket::test
