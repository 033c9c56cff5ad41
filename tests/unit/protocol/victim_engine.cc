// SPDX-License-Identifier: BSD-3-Clause
#include "victim_engine.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "algorithms/algorithm.h"
#include "engines/nic/stage_table.h"

namespace hocket::test {
namespace {

using engines::nic::Mode;

nic_program program_of(const char* name, uint32_t size, uint32_t self, Mode mode) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, name);
  Result<nic_program> program = engines::nic::stage_table(
      self, mode, [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = size, .rank = rank}); });
  if (!program.is_ok()) std::abort();
  return program.take();
}

nic_program vote_of(uint32_t size, uint32_t self) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, "gather_broadcast");
  Result<nic_program> program = engines::nic::broadcast_table(
      self, size, [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = size, .rank = rank}); });
  if (!program.is_ok()) std::abort();
  return program.take();
}

// One bit of the program's for each of its arrivals, the host's, and that of a vote.
uint64_t known_bits(const nic_program& program) {
  return NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1) | ((program.flags & NIC_VOTES) != 0 ? NIC_VETOED : 0);
}

// The newest epoch up to `limit` whose record is number `index`; 0: there is none.
uint64_t epoch_of(uint64_t limit, uint64_t index) {
  const uint64_t behind = (limit - index) % NIC_WINDOW;
  return behind > limit ? 0 : limit - behind;
}

std::string flaw_of_record(const Victim& victim, uint64_t index) {
  const uint64_t word = victim.state.record[index];
  if (word == 0) return "";
  if (nic_program_of(word) >= victim.group.programs) return "a program that there is not";
  const nic_program& program = victim.group.program[nic_program_of(word)];
  if ((word & NIC_EVENTS & ~known_bits(program)) != 0) return "bits that the program hasn't";
  const uint64_t newest = epoch_of(victim.state.completed + NIC_WINDOW, index);
  const bool is_newest = nic_round_of(word) == nic_round(newest);
  if (!is_newest && (newest < NIC_WINDOW || nic_round_of(word) != nic_round(newest - NIC_WINDOW)))
    return "a round of no operation that can be under way";
  if ((word & NIC_STARTED) != 0 && is_newest && newest > victim.state.started) return "a start that was none";
  return "";
}

std::string flaw_of_acknowledgements(const Victim& victim, uint64_t index) {
  const uint64_t word = victim.state.acknowledged[index];
  const uint64_t epoch = epoch_of(victim.state.started, index);
  if ((word & NIC_EVENTS) == 0 || nic_round_of(word) != nic_round(epoch)) {
    return (word & NIC_EVENTS) == 0 || (nic_round(epoch) - nic_round_of(word)) % NIC_ROUNDS < NIC_ROUNDS / 2
               ? ""
               : "acknowledgements of what has not begun";
  }
  if (nic_program_of(word) >= victim.group.programs) return "acknowledgements of a program that there is not";
  const nic_program& program = victim.group.program[nic_program_of(word)];
  if ((program.flags & NIC_ACKNOWLEDGED) == 0) return "acknowledgements that nobody wants";
  return (word & NIC_EVENTS) >> program.sends == 0 ? "" : "acknowledgements of messages that there are not";
}

}  // namespace

VictimEngine::VictimEngine(uint64_t seed) : dice_(seed) {
  constexpr uint16_t kSizes[kGroups] = {4, 9, 4, 33};
  for (uint32_t number = 0; number < kGroups; ++number) {
    Victim& victim = groups_.emplace_back();
    nic_group& group = victim.group;
    group.id = dice_();
    group.key = {dice_(), dice_()};
    group.size = kSizes[number];
    group.self = static_cast<uint16_t>(dice_() % group.size);
    const auto add = [&](const char* name, Mode mode) {
      group.program[group.programs++] = program_of(name, group.size, group.self, mode);
    };
    add("dissemination", Mode::kCollective);
    add("gather_broadcast", Mode::kAcknowledged);
    if (number != 0) add("dissemination", Mode::kAcknowledged);
    if (number != 1) add("linear", Mode::kChain);
    group.program[group.programs++] = vote_of(group.size, group.self);
    victim.heard.resize(group.size);
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
  for (uint64_t epoch = base < NIC_WINDOW ? 1 : base - NIC_WINDOW + 1; epoch <= base; ++epoch)
    *nic_record(&victim.state, epoch) = nic_blank(epoch, 0) | victim.group.program[0].all;
  victim.told = base;
}

Taken VictimEngine::take(std::span<const std::byte> datagram) {
  Taken taken;
  const auto counted = [&](uint32_t counter) {
    taken.counter = counter;
    ++counters_[counter];
    return taken;
  };
  if (datagram.size() != NIC_HEADER_BYTES) return counted(NIC_BAD_LENGTH);
  __u64 words[NIC_WORDS + 1];
  std::memcpy(words, datagram.data(), sizeof words);
  const uint64_t tag = nic_read(words, &taken.message);
  const nic_message& message = taken.message;
  if (message.kind == 0) return taken;
  uint32_t number = 0;
  while (number < kGroups && groups_[number].group.id != message.group) ++number;
  if (number == kGroups) return counted(NIC_NO_GROUP);
  Victim& victim = groups_[number];
  if (nic_tag(&victim.group.key, &message) != tag) return counted(NIC_BAD_TAG);
  taken.group = number;
  if (nic_is_sign_of_life(&victim.group, &victim.state, &message) != 0) ++victim.heard[message.source];
  taken.outcome = nic_take(&victim.group, &victim.state, &message);
  victim.told += taken.outcome.completed;
  return counted(taken.outcome.verdict);
}

nic_outcome VictimEngine::start(uint32_t group, uint32_t program, uint64_t epoch) {
  Victim& victim = groups_[group];
  const nic_outcome outcome = nic_start(&victim.group, &victim.state, program, epoch);
  victim.told += outcome.completed;
  return outcome;
}

std::string flaw_of(const Victim& victim) {
  const nic_state& state = victim.state;
  if (state.completed > state.started) return "complete what has not begun";
  if (state.started > state.completed + NIC_IN_FLIGHT) return "more in flight than may be";
  if (victim.told != state.completed) return "the host was told of other ends than there were";
  const uint64_t cause = state.broken & 0xff;
  if (state.broken != 0 && (cause == 0 || cause >= NIC_CAUSES || state.broken >> 8 >= victim.group.size))
    return "broken for no cause, or by nobody";
  for (uint64_t index = 0; index < NIC_WINDOW; ++index) {
    std::string flaw = flaw_of_record(victim, index);
    if (flaw.empty()) flaw = flaw_of_acknowledgements(victim, index);
    if (!flaw.empty()) return "record " + std::to_string(index) + ": " + flaw;
  }
  for (uint64_t epoch = state.completed + 1; epoch <= state.started && state.broken == 0; ++epoch) {
    if ((nic_look(&state.record[epoch % NIC_WINDOW], epoch) & NIC_STARTED) == 0) return "a start that is forgotten";
  }
  return "";
}

}  // namespace hocket::test
