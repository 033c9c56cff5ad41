// SPDX-License-Identifier: BSD-3-Clause
#include "victim_engine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "algorithms/algorithm.h"
#include "engines/nic/stage_table.h"

namespace hocket::test {
namespace {

using engines::nic::Form;
using engines::nic::Mode;
using schedule::Collective;

constexpr unsigned char kRedByte = 0xa5;

nic_program program_of(Collective collective, const char* name, uint32_t size, uint32_t self, const Form& form) {
  const algorithms::Algorithm* algorithm = algorithms::find(collective, name);
  const uint32_t degree = std::strcmp(name, "tree_mm") == 0 ? 2 : 0;
  Result<nic_program> program = engines::nic::stage_table(self, form, [&](uint32_t rank) {
    return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree});
  });
  if (!program.is_ok()) std::abort();
  return program.take();
}

nic_program vote_of(uint32_t size, uint32_t self) {
  const algorithms::Algorithm* algorithm = algorithms::find(Collective::kBarrier, "gather_broadcast");
  Result<nic_program> program = engines::nic::broadcast_table(
      self, size, [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = size, .rank = rank}); });
  if (!program.is_ok()) std::abort();
  return program.take();
}

void add(nic_group& group, const nic_program& program) {
  group.program[group.programs++] = program;
  group.operands = std::max<uint16_t>(group.operands, program.operands);
}

void add_barriers(nic_group& group, uint32_t number) {
  const auto barrier = [&](const char* name, Mode mode) {
    add(group, program_of(Collective::kBarrier, name, group.size, group.self, {mode}));
  };
  barrier("dissemination", Mode::kCollective);
  barrier("gather_broadcast", Mode::kDirect);
  if (number != 0) barrier("dissemination", Mode::kDirect);
  if (number != 1) barrier("linear", Mode::kChain);
  add(group, vote_of(group.size, group.self));
}

void add_contents(nic_group& group) {
  const auto content = [&](Collective collective, const char* name, const Form& form) {
    add(group, program_of(collective, name, group.size, group.self, form));
  };
  for (const bool synchronizes : {false, true}) {
    content(Collective::kReduce, "tree_mm", {Mode::kCollective, synchronizes});
    content(Collective::kBroadcast, "tree_mm", {Mode::kCollective, synchronizes});
  }
  content(Collective::kReduce, "tree_mm", {.on_arrival = true});
  content(Collective::kAllreduce, "tree_mm", {.on_arrival = true});
  content(Collective::kAllreduce, "recursive_doubling", {});
  content(Collective::kAllreduce, "recursive_doubling", {Mode::kChain});
  content(Collective::kAlltoall, "linear", {});
}

}  // namespace

VictimEngine::VictimEngine(uint64_t seed) : dice_(seed) {
  constexpr uint16_t kSizes[kGroups] = {4, 9, 4, 33};
  constexpr uint16_t kUnexpected[kGroups] = {NIC_WINDOW, 3, NIC_WINDOW, 0};
  for (uint32_t number = 0; number < kGroups; ++number) {
    Victim& victim = groups_.emplace_back();
    nic_group& group = victim.group;
    group.id = dice_();
    group.key = {dice_(), dice_()};
    group.size = kSizes[number];
    group.self = static_cast<uint16_t>(dice_() % group.size);
    group.unexpected = kUnexpected[number];
    add_barriers(group, number);
    if (number != kBarriersOnly) add_contents(group);
    victim.signs_of_life.resize(group.size);
    victim.operands.resize(size_t{NIC_WINDOW} * group.operands + 2 * Victim::kBeside);
    renew(number);
  }
}

void VictimEngine::renew(uint32_t group) {
  Victim& victim = groups_[group];
  constexpr uint64_t kRoundTrip = uint64_t{NIC_WINDOW} * NIC_ROUNDS;
  const uint64_t bases[] = {0, 1, 40, kRoundTrip / 2 + 7, kRoundTrip - 5, 5 * kRoundTrip + 33, uint64_t{1} << 40};
  const uint64_t base = bases[dice_() % std::size(bases)];
  victim.state = {};
  victim.state.started = victim.state.completed = base;
  for (uint64_t epoch = base < NIC_WINDOW ? 1 : base - NIC_WINDOW + 1; epoch <= base; ++epoch) {
    *nic_record(&victim.state, epoch) = nic_blank(epoch, 0) | victim.group.program[0].all;
    // The last content may be long ago.
    const uint64_t rounds = std::min<uint64_t>(epoch / NIC_WINDOW, dice_() % (NIC_ROUNDS / 4));
    victim.state.call[nic_index_of(epoch)] = victim.state.claimed[nic_index_of(epoch)] =
        victim.state.pool[nic_index_of(epoch)] = nic_blank(epoch - rounds * NIC_WINDOW, 0);
  }
  std::memset(victim.operands.data(), kRedByte, victim.operands.size() * sizeof(nic_operand));
  victim.reported = base;
}

int words_of_length(size_t bytes) {
  if (bytes < NIC_HEADER_BYTES || bytes > NIC_MOST_PACKET_BYTES || bytes % sizeof(uint64_t) != 0) return -1;
  return static_cast<int>((bytes - NIC_HEADER_BYTES) / sizeof(uint64_t));
}

nic_message as_sent(const nic_message& message) {
  __u64 words[NIC_WORDS + 1];
  nic_write(&message, 0, words);
  nic_message sent;
  (void)nic_read(words, message.carried, &sent);
  return sent;
}

Taken VictimEngine::take(std::span<const std::byte> datagram) {
  Taken taken;
  const auto counted = [&](uint32_t counter) {
    taken.counter = counter;
    ++counters_[counter];
    return taken;
  };
  const int carried = words_of_length(datagram.size());
  if (carried < 0) return counted(NIC_BAD_LENGTH);
  __u64 words[NIC_WORDS + 1];
  std::memcpy(words, datagram.data(), sizeof words);
  const uint64_t tag = nic_read(words, static_cast<uint32_t>(carried), &taken.message);
  const nic_message& message = taken.message;
  if (message.kind == 0) return taken;
  uint32_t number = 0;
  while (number < kGroups && groups_[number].group.id != message.group) ++number;
  if (number == kGroups) return counted(NIC_NO_GROUP);
  // What isn't carried must not matter.
  nic_operand operand;
  std::memset(&operand, kRedByte, sizeof operand);
  const std::span<const std::byte> rest = datagram.subspan(sizeof words);
  if (!rest.empty()) std::memcpy(&operand, rest.data(), rest.size());
  Victim& victim = groups_[number];
  if (nic_tag(&victim.group.key, &message, &operand) != tag) return counted(NIC_BAD_TAG);
  taken.group = number;
  if (nic_is_sign_of_life(&victim.group, &victim.state, &message) != 0) ++victim.signs_of_life[message.source];
  nic_hear(&victim.group, &victim.state, &message, 1);
  taken.outcome = nic_take(&victim.group, &victim.state, victim.memory(), &message, &operand);
  publish(victim, message, taken.outcome);
  if (taken.outcome.waits != 0) ++counters_[NIC_KEPT];
  return counted(taken.outcome.verdict);
}

nic_outcome VictimEngine::start(uint32_t group, const nic_message& doorbell, const nic_operand& operand) {
  Victim& victim = groups_[group];
  nic_outcome outcome = nic_start(&victim.group, &victim.state, victim.memory(), &doorbell, &operand);
  publish(victim, doorbell, outcome);
  return outcome;
}

void VictimEngine::publish(Victim& victim, const nic_message& cause, nic_outcome& outcome) {
  if (outcome.publishes != 0) {
    nic_operand result;
    if (nic_result(&victim.group, &victim.state, victim.memory(), cause.program, cause.epoch, outcome.call, &result) ==
        0)
      return;
    std::memcpy(&victim.results[cause.epoch % NIC_IN_FLIGHT], &result, 8 * nic_call_words(outcome.call));
    outcome.completed += nic_published(&victim.group, &victim.state, cause.program, cause.epoch);
    ++victim.published;
  }
  victim.reported += outcome.completed;
}

}  // namespace hocket::test
