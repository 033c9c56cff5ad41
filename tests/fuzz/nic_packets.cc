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

using namespace hocket::test;

namespace {

// A piece of the input, zeros behind its end.
template <typename Value>
Value take(std::span<const uint8_t>& input) {
  Value value{};
  const size_t bytes = std::min(sizeof value, input.size());
  if (bytes != 0) std::memcpy(&value, input.data(), bytes);
  input = input.subspan(bytes);
  return value;
}

// Epochs are told by how far from what is under way they are.
void feed_signed(VictimEngine& engine, uint32_t group, std::span<const uint8_t>& input) {
  const Victim& victim = engine.groups()[group];
  struct {
    int8_t ahead;
    uint8_t kind, program, bit, send, count, source, target;
  } fields = {};
  fields = take<decltype(fields)>(input);
  const nic_message message = {victim.group.id,
                               victim.state.completed + static_cast<uint64_t>(int64_t{fields.ahead}),
                               fields.source,
                               static_cast<uint16_t>(fields.target == 0 ? victim.group.self : fields.target),
                               fields.kind,
                               fields.program,
                               fields.bit,
                               fields.send,
                               0,
                               0,
                               fields.count};
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, nic_tag(&victim.group.key, &message), words);
  (void)engine.take(std::as_bytes(std::span(words)));
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
      case 0: {
        const auto ahead = take<int8_t>(input);
        const auto program = take<uint8_t>(input);
        (void)engine.start(group, program,
                           engine.groups()[group].state.started + 1 + static_cast<uint64_t>(ahead / 64));
        break;
      }
      case 1: {
        const auto wanted = take<uint8_t>(input);
        const size_t length = std::min<size_t>(wanted % 64, input.size());
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
