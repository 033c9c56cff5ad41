// SPDX-License-Identifier: BSD-3-Clause
#include "hostile_packets.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hocket::test {

nic_operand HostilePackets::operand() {
  nic_operand operand;
  for (__u64& word : operand.word) word = dice_();
  return operand;
}

HostilePacket HostilePackets::signed_by(const Victim& victim, const nic_message& message) {
  HostilePacket packet;
  const nic_operand carried = operand();
  const nic_message sent = as_sent(message);
  __u64 words[NIC_WORDS + 1];
  nic_write(&sent, nic_tag(&victim.group.key, &sent, &carried), words);
  std::memcpy(packet.bytes.data(), words, sizeof words);
  std::memcpy(&packet.bytes[sizeof words], &carried, sizeof(uint64_t) * sent.carried);
  packet.length = sizeof words + sizeof(uint64_t) * sent.carried;
  return packet;
}

void HostilePackets::set_random_call(const Victim& victim, nic_message& message) {
  const nic_program& program = victim.group.program[message.program];
  message.root = message.words = message.operation = message.type = 0;
  if (program.operands == 0) return;
  if (nic_has_root(&program) != 0) message.root = static_cast<uint16_t>(below(victim.group.size));
  const uint64_t parts = std::max<uint64_t>(program.slices, 1);
  message.words = static_cast<uint8_t>(parts * (1 + below(NIC_MOST_WORDS / parts)));
  do {
    message.operation = static_cast<uint8_t>(1 + below(NIC_OPERATIONS_END - 1));
    message.type = static_cast<uint8_t>(1 + below(NIC_TYPES_END - 1));
  } while (nic_can_combine(message.operation, message.type) == 0);
}

void HostilePackets::set_call(const Victim& victim, nic_message& message) {
  set_random_call(victim, message);
  const uint64_t call = nic_described(&victim.state.call[nic_index_of(message.epoch)], message.epoch);
  if (call == 0 || victim.group.program[message.program].operands == 0) return;
  nic_message known = message;
  known.root = static_cast<uint16_t>(nic_call_root(call));
  known.words = static_cast<uint8_t>(nic_call_words(call));
  known.operation = static_cast<uint8_t>(nic_call_operation(call));
  known.type = static_cast<uint8_t>(nic_call_type(call));
  if (nic_is_sound(&victim.group, &victim.group.program[message.program], &known) != 0) message = known;
}

bool HostilePackets::set_arrival(const Victim& victim, nic_message& message, uint8_t bit) {
  const nic_program& program = victim.group.program[message.program];
  const nic_arrival& arrival = program.arrival[bit];
  const uint32_t source = nic_source_of(&arrival, message.root);
  if (source >= victim.group.size || source == victim.group.self) return false;
  // The result is for the root.
  if ((program.flags & NIC_TO_ROOT) != 0 && bit == 0 && message.root != victim.group.self) return false;
  message.bit = bit;
  message.source = static_cast<uint16_t>(source);
  message.send = arrival.send;
  message.carried = arrival.operand == NIC_NO_OPERAND
                        ? uint8_t{0}
                        : static_cast<uint8_t>(nic_words_of_slice(&program, nic_call_of(&message)));
  return true;
}

nic_message HostilePackets::message_of(const Victim& victim, uint32_t program, uint64_t epoch) {
  nic_message message{};
  message.group = victim.group.id;
  message.epoch = epoch;
  message.target = victim.group.self;
  message.kind = NIC_MESSAGE;
  message.program = static_cast<uint8_t>(program);
  set_call(victim, message);
  // In an operation of some roots a member waits for nobody.
  for (int tries = 1;
       !set_arrival(victim, message, static_cast<uint8_t>(below(victim.group.program[program].arrivals))); ++tries)
    if (tries % 16 == 0) set_random_call(victim, message);
  return message;
}

nic_message HostilePackets::about_send(const Victim& victim, uint32_t program, uint8_t kind, uint64_t epoch) {
  const nic_program& p = victim.group.program[program];
  const auto send = static_cast<uint8_t>(below(p.sends));
  nic_message message = message_of(victim, program, epoch);
  const uint32_t root = nic_call_root(nic_described(&victim.state.call[nic_index_of(epoch)], epoch));
  const uint32_t target = nic_target_of(&victim.group, &p.send[send], root);
  message.kind = kind;
  message.source = target < victim.group.size ? static_cast<uint16_t>(target) : other_member(victim, victim.group.self);
  message.send = send;
  message.bit = p.send[send].bit;
  message.root = message.words = message.operation = message.type = message.carried = 0;
  return message;
}

nic_message HostilePackets::any_of(const Victim& victim) {
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const auto kind = static_cast<uint8_t>(NIC_MESSAGE + below(NIC_KINDS - 1));
  if (kind == NIC_NACK || kind == NIC_ACK) return about_send(victim, program, kind, near(victim));
  nic_message message = message_of(victim, kind == NIC_VETO ? program_with(victim, NIC_VOTES) : program);
  message.kind = kind;
  if (kind == NIC_ABORT) {
    message.bit = static_cast<uint8_t>(1 + below(NIC_CAUSES - 1));
    message.root = static_cast<uint16_t>(below(victim.group.size));
  }
  return message;
}

uint64_t HostilePackets::near(const Victim& victim) { return victim.state.completed + 1 + below(NIC_WINDOW); }

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

// The one that is under way already, if any is.
uint32_t HostilePackets::program_of_epoch(const Victim& victim, uint64_t epoch) {
  const uint64_t word = nic_look(&victim.state.record[epoch % NIC_WINDOW], epoch);
  return static_cast<uint32_t>((word & NIC_EVENTS) != 0 ? nic_program_of(word) : below(victim.group.programs));
}

// --- without a key ---------------------------------------------------------------------------------------------------

HostilePacket HostilePackets::flipped() {
  const Victim& victim = engine_.groups()[below(VictimEngine::kGroups)];
  const nic_message message = any_of(victim);
  HostilePacket packet = signed_by(victim, message);
  const uint64_t bit = below(uint64_t{8} * packet.length);
  packet.bytes[bit / 8] ^= std::byte{1} << bit % 8;
  constexpr uint64_t kKindAt = 4;  // bytes; the version is in the same
  constexpr uint64_t kProgramAt = 5;
  constexpr uint64_t kGroupAt = 8;
  constexpr uint64_t kEpochAt = 16;
  const bool is_known = bit / 8 == kKindAt && bit % 8 < 4 && (packet.bytes[kKindAt] & std::byte{15}) != std::byte{0};
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
  const auto is_counted = [&](uint32_t counter, const char* what) {
    packet.expected = counter;
    packet.what = what;
    return packet;
  };
  switch (below(9)) {
    case 0:
      randomize(0);
      return is_counted(kPassed, "random bytes");
    case 1:
      randomize(0);
      std::memcpy(packet.bytes.data(), good.bytes.data(), 8);
      return is_counted(NIC_NO_GROUP, "a random group");
    case 2:
      randomize(16);
      return is_counted(NIC_BAD_TAG, "random fields of a group");
    case 3:
      randomize(below(2) == 0 ? 0 : good.length);
      do {
        packet.length = below(packet.bytes.size() + 1);
      } while (words_of_length(packet.length) >= 0);
      return is_counted(NIC_BAD_LENGTH, "another length");
    case 4: {
      nic_message message = any_of(victim);
      packet =
          signed_by(engine_.groups()[(whose + 1 + below(VictimEngine::kGroups - 1)) % VictimEngine::kGroups], message);
      return is_counted(NIC_BAD_TAG, "another group's key");
    }
    case 5:
      randomize(NIC_HEADER_BYTES - 8);
      return is_counted(NIC_BAD_TAG, "a random tag");
    case 6:
      if (good.length == NIC_HEADER_BYTES) return flipped();
      randomize(NIC_HEADER_BYTES);
      return is_counted(NIC_BAD_TAG, "another operand");
    case 7:
      // Cut off, or with more behind it: by whole words.
      do {
        packet.length = NIC_HEADER_BYTES + 8 * below(NIC_MOST_WORDS + 1);
      } while (packet.length == good.length);
      return is_counted(NIC_BAD_TAG, "another length than what was signed");
    default:
      return flipped();
  }
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

uint8_t HostilePackets::some_byte(uint8_t right) {
  const uint8_t choices[] = {right, right, right, right, right, 0, 255, static_cast<uint8_t>(dice_())};
  return choices[below(std::size(choices))];
}

HostilePacket HostilePackets::random_fields(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  nic_message message = any_of(victim);
  const auto member = [&](uint16_t& field) {
    const auto random = static_cast<uint16_t>(dice_());
    const uint16_t choices[] = {field, field, field, 0, UINT16_MAX, victim.group.self, victim.group.size, random};
    field = choices[below(std::size(choices))];
  };
  for (uint8_t* field :
       {&message.program, &message.bit, &message.send, &message.words, &message.operation, &message.type})
    *field = some_byte(*field);
  // An end that is right ends all else.
  if (message.kind == NIC_ABORT) message.bit = 0;
  if (below(8) == 0 && message.kind != NIC_ABORT)
    message.kind = static_cast<uint8_t>(NIC_KINDS + below(16 - NIC_KINDS));
  member(message.source);
  member(message.target);
  if (below(4) == 0) member(message.root);
  if (below(4) == 0) message.carried = static_cast<uint8_t>(below(NIC_MOST_WORDS + 1));
  if (below(2) == 0) message.epoch = some_epoch(victim);
  HostilePacket packet = signed_by(victim, message);
  packet.what = "random fields";
  return remember(packet);
}

HostilePacket HostilePackets::remember(const HostilePacket& packet) {
  earlier_[remembered_++ % earlier_.size()] = packet;
  return packet;
}

// As it came, or with another operand and a tag for that.
HostilePacket HostilePackets::replayed() {
  HostilePacket packet = earlier_[below(std::min<uint64_t>(remembered_, earlier_.size()))];
  __u64 words[NIC_WORDS + 1];
  std::memcpy(words, packet.bytes.data(), sizeof words);
  nic_message message;
  (void)nic_read(words, static_cast<uint32_t>(words_of_length(packet.length)), &message);
  for (const Victim& victim : engine_.groups())
    if (message.carried != 0 && victim.group.id == message.group && below(2) == 0) packet = signed_by(victim, message);
  packet.what = "a replay";
  return packet;
}

HostilePacket HostilePackets::misbehaving(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  nic_message message = message_of(victim, program);
  const uint64_t what = below(1000);
  if (what >= 900 && remembered_ != 0) return replayed();
  if (what < 500) {
    // What brings operations on: as they would come.
    const uint64_t epoch = victim.state.completed + 1 + (below(4) == 0 ? below(NIC_IN_FLIGHT) : 0);
    message = message_of(victim, program_of_epoch(victim, epoch), epoch);
    if (message.program == program_with(victim, NIC_VOTES)) {
      if (below(2) == 0) message.target = NIC_ALL;
      if (below(4) == 0) message.kind = NIC_VETO;
    }
  } else if (what < 700) {
    const uint64_t epoch = victim.state.completed + NIC_WINDOW - below(3 * NIC_WINDOW + 1);
    message = about_send(victim, below(2) == 0 ? program : program_of_epoch(victim, epoch), NIC_NACK, epoch);
  } else if (what < 800) {
    const uint64_t epoch = victim.state.started + 1 - below(NIC_WINDOW + 8);
    message = about_send(victim, program_with(victim, NIC_ACKNOWLEDGED), NIC_ACK, epoch);
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

// --- of hosts --------------------------------------------------------------------------------------------------------

nic_message HostilePackets::doorbell(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  nic_message doorbell{};
  doorbell.kind = NIC_DOORBELL;
  doorbell.epoch = victim.state.started + 1;
  doorbell.program =
      static_cast<uint8_t>(below(8) == 0 ? below(victim.group.programs) : program_of_epoch(victim, doorbell.epoch));
  set_call(victim, doorbell);
  doorbell.carried =
      static_cast<uint8_t>(nic_words_of_host(&victim.group, &victim.group.program[doorbell.program], &doorbell));
  return doorbell;
}

nic_message HostilePackets::wild_doorbell(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  nic_message wild = doorbell(group);
  if (below(4) == 0) wild.epoch = some_epoch(victim);
  if (below(4) == 0) wild.program = static_cast<uint8_t>(below(victim.group.programs + 1u));
  for (uint8_t* field : {&wild.words, &wild.operation, &wild.type})
    if (below(4) == 0) *field = some_byte(*field);
  if (below(4) == 0) wild.root = static_cast<uint16_t>(below(victim.group.size + 1u));
  if (below(4) == 0) wild.carried = static_cast<uint8_t>(below(NIC_MOST_WORDS + 1));
  if (below(4) == 0) wild.source = wild.target = static_cast<uint16_t>(dice_());
  return as_sent(wild);
}

}  // namespace hocket::test
