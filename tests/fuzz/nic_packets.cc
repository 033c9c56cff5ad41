// SPDX-License-Identifier: BSD-3-Clause
// Anybody may send packets to a NIC engine's port, and a member of a group signed ones: whatever comes, in between what
// the host begins, a group's state stays one that there can be. The first byte of each piece of the input says what it
// is: a doorbell, a datagram as it is, or the fields of one that is then signed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "../unit/protocol/victim_engine.h"
#include "input.h"

using namespace hocket::test;

namespace {

// Epochs are told by how far from what is under way they are; operands by their first word, which others follow.
struct Fields {
  int8_t ahead;
  uint8_t kind, program, bit, send, source, target, root, words, operation_and_type, carried, first;
};

nic_message message_of(const Victim& victim, const Fields& fields) {
  nic_message message{};
  message.group = victim.group.id;
  message.epoch = victim.state.completed + static_cast<uint64_t>(int64_t{fields.ahead});
  message.source = fields.source;
  message.target = fields.target == 0 ? victim.group.self : fields.target;
  message.kind = fields.kind;
  message.program = fields.program;
  message.bit = fields.bit;
  message.send = fields.send;
  message.root = fields.root;
  message.words = fields.words;
  message.operation = fields.operation_and_type >> 4;
  message.type = fields.operation_and_type & 15;
  message.carried = std::min<uint8_t>(fields.carried, NIC_MOST_WORDS);
  return hocket::test::as_sent(message);
}

nic_operand operand_of(const Fields& fields) {
  nic_operand operand;
  uint64_t word = fields.first;
  for (__u64& each : operand.word) each = word++ * 0x9e3779b97f4a7c15;
  return operand;
}

void feed_signed(VictimEngine& engine, uint32_t group, std::span<const uint8_t>& input) {
  const auto fields = take<Fields>(input);
  const nic_message message = message_of(engine.groups()[group], fields);
  struct {
    __u64 words[NIC_WORDS + 1];
    nic_operand operand;
  } packet = {{}, operand_of(fields)};
  nic_write(&message, nic_tag(&engine.groups()[group].group.key, &message, &packet.operand), packet.words);
  (void)engine.take(
      std::as_bytes(std::span(&packet, 1)).first(sizeof packet.words + sizeof(uint64_t) * message.carried));
}

void ring(VictimEngine& engine, uint32_t group, std::span<const uint8_t>& input) {
  auto fields = take<Fields>(input);
  const uint64_t epoch = engine.groups()[group].state.started + 1 + static_cast<uint64_t>(fields.ahead / 64);
  nic_message doorbell = message_of(engine.groups()[group], fields);
  doorbell.epoch = epoch;
  (void)engine.start(group, doorbell, operand_of(fields));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const VictimEngine fresh(1);
  VictimEngine engine = fresh;
  std::span<const uint8_t> input(data, size);
  while (!input.empty()) {
    const auto what = take<uint8_t>(input);
    const uint32_t group = what / 4 % VictimEngine::kGroups;
    switch (what % 4) {
      case 0:
        ring(engine, group, input);
        break;
      case 1: {
        const auto wanted = take<uint16_t>(input);
        const size_t length = std::min<size_t>(wanted % (NIC_MOST_PACKET_BYTES + 16), input.size());
        (void)engine.take(std::as_bytes(input.first(length)));
        input = input.subspan(length);
        break;
      }
      default:
        feed_signed(engine, group, input);
    }
    if (!flaw_of(engine.groups()[group]).empty()) std::abort();
  }
  for (const Victim& victim : engine.groups())
    if (!flaw_of(victim).empty()) std::abort();
  return 0;
}
