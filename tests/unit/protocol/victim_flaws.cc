// SPDX-License-Identifier: BSD-3-Clause
// What the words of a group's state say of one another, whatever has come.
#include <algorithm>
#include <iterator>

#include "victim_engine.h"

namespace hocket::test {
namespace {

// One bit of the program's for each of its arrivals, the host's, and that of a vote or a result.
uint64_t known_bits(const nic_program& program) {
  const bool has_last = (program.flags & NIC_VOTES) != 0 || program.operands != 0;
  return NIC_STARTED | ((uint64_t{1} << program.arrivals) - 1) | (has_last ? NIC_VETOED : 0);
}

// Bits of those arrivals that have content.
uint64_t content_bits(const nic_program& program) {
  uint64_t bits = 0;
  for (uint32_t bit = 0; bit < program.arrivals; ++bit)
    if (program.arrival[bit].operand != NIC_NO_OPERAND) bits |= uint64_t{1} << bit;
  return bits;
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
               : "acknowledgements of what has not started";
  }
  if (nic_program_of(word) >= victim.group.programs) return "acknowledgements of a program that there is not";
  const nic_program& program = victim.group.program[nic_program_of(word)];
  const uint64_t owed = victim.state.owed[index];
  const uint64_t bits = nic_round_of(owed) == nic_round_of(word) ? word & ~owed & NIC_EVENTS : 0;
  if ((program.flags & NIC_ACKNOWLEDGED) == 0 && bits != 0) return "acknowledgements that nobody wants";
  return (word & NIC_EVENTS) >> program.sends == 0 ? "" : "acknowledgements of messages that there are not";
}

// What has been asked for too early, and what has been said of what is missing.
std::string flaw_of_promises(const Victim& victim, uint64_t index) {
  const auto most = [&](uint64_t word, bool sends) -> uint32_t {
    if (nic_program_of(word) >= victim.group.programs) return 0;
    const nic_program& program = victim.group.program[nic_program_of(word)];
    if (sends && (program.flags & (NIC_VOTES | NIC_ACKNOWLEDGED | NIC_RELIABLE_WIRE)) != 0) return 0;
    return sends ? program.sends : program.arrivals;
  };
  const uint64_t owed = victim.state.owed[index];
  const uint64_t promised = victim.state.promised[index];
  if ((owed & NIC_EVENTS) >> most(owed, true) != 0) return "a debt of messages that there are not";
  if ((promised & NIC_EVENTS) >> most(promised, false) != 0) return "a promise of messages that there are not";
  return "";
}

// Words that only operations with content write may be of any earlier round, as long as they can't be taken for later.
bool is_of_an_operation(const Victim& victim, uint64_t word, uint64_t index) {
  const uint64_t newest = epoch_of(victim.state.completed + NIC_WINDOW, index);
  return (nic_round(newest) - nic_round_of(word)) % NIC_ROUNDS < NIC_ROUNDS / 2;
}

std::string flaw_of_call(const Victim& victim, uint64_t index) {
  const uint64_t call = victim.state.call[index];
  if (!is_of_an_operation(victim, call, index)) return "a call of no operation that can be under way";
  if ((call & NIC_IS_CALL) == 0) return (call & (NIC_IS_CALL - 1)) == 0 ? "" : "a call that is none";
  if (victim.group.operands == 0) return "a call where nothing has content";
  if ((call & (NIC_IS_CALL - 1)) >> 32 != 0) return "a call with bits that have no meaning";
  if (nic_call_words(call) == 0 || nic_call_words(call) > NIC_MOST_WORDS) return "a call of no words, or too many";
  if (nic_can_combine(nic_call_operation(call), nic_call_type(call)) == 0) return "a call of no operation";
  return nic_call_root(call) < victim.group.size ? "" : "a call of no member's";
}

std::string flaw_of_claims(const Victim& victim, uint64_t index) {
  const uint64_t claimed = victim.state.claimed[index];
  if (!is_of_an_operation(victim, claimed, index)) return "operands of no operation that can be under way";
  const uint64_t bits = claimed & NIC_EVENTS;
  if (bits == 0) return "";
  if (nic_program_of(claimed) >= victim.group.programs) return "operands of a program that there is not";
  if ((bits & ~content_bits(victim.group.program[nic_program_of(claimed)])) != 0)
    return "operands where nothing has content";
  const uint64_t record = victim.state.record[index];
  if (nic_round_of(claimed) != nic_round_of(record)) return "";
  if (nic_program_of(claimed) != nic_program_of(record)) return "operands of another program";
  return (bits & ~record) == 0 ? "" : "an operand that has been claimed and hasn't come";
}

std::string flaw_of_pool(const Victim& victim, uint64_t index) {
  const uint64_t pool = victim.state.pool[index];
  if (!is_of_an_operation(victim, pool, index)) return "a pool of no operation that can be under way";
  const uint32_t parked = nic_parked(pool);
  if ((pool & ((uint64_t{1} << NIC_ROUND_SHIFT) - 1)) != parked) return "a pool with bits that have no meaning";
  if (parked > victim.group.operands) return "a place in the pool that there is not";
  const uint64_t record = victim.state.record[index];
  if ((record & NIC_EVENTS) == 0) return "";
  const nic_program& program = victim.group.program[nic_program_of(record)];
  uint64_t come = (record & NIC_STARTED) != 0 ? 1 << NIC_HOSTS_OPERAND : 0;
  for (uint32_t bit = 0; bit < program.arrivals; ++bit)
    if ((record >> bit & 1) != 0 && program.arrival[bit].operand < NIC_MOST_WORDS)
      come |= uint64_t{1} << program.arrival[bit].operand;
  const bool is_of_record = nic_round_of(pool) == nic_round_of(record);
  // The doorbell that has broken the group gave an operand, too.
  if (victim.state.broken == 0 && is_of_record && parked != 0 && (program.pooled & come) >> (parked - 1) % 64 % 2 == 0)
    return "a place in the pool whose operand hasn't come";
  return (program.pooled & come) != 0 && (!is_of_record || parked == 0) ? "operands that have got lost" : "";
}

// What the three say of one operation with content.
std::string flaw_of_content(const Victim& victim, uint64_t index) {
  const uint64_t record = victim.state.record[index];
  if ((record & NIC_EVENTS) == 0) return "";
  const nic_program& program = victim.group.program[nic_program_of(record)];
  const uint64_t call = victim.state.call[index];
  const uint64_t newest = epoch_of(victim.state.completed + NIC_WINDOW, index);
  // Whose places the next round has taken has gone out of use.
  if (program.operands == 0 || nic_round_of(record) != nic_round(newest)) return "";
  if ((call & NIC_IS_CALL) == 0 || nic_round_of(call) != nic_round_of(record)) return "an operation without a call";
  const uint32_t root = nic_call_root(call);
  if (nic_has_root(&program) == 0 && root != 0) return "a root where there is none";
  if (program.slices != 0 && nic_call_words(call) % program.slices != 0) return "a part of a slice";
  const bool is_root = root == victim.group.self;
  const bool gets_nothing = (program.flags & NIC_TO_ROOT) != 0 && !is_root;
  const bool has_operand = (program.flags & NIC_FROM_ROOT) != 0 && is_root;
  const uint64_t beginning = (gets_nothing ? NIC_PUBLISHED | 1 : 0) | (has_operand ? 1 : 0);
  if ((record & beginning) != beginning) return "bits missing that needn't be waited for";
  const uint64_t claimed = victim.state.claimed[index];
  const uint64_t is_there = nic_round_of(claimed) == nic_round_of(record) ? claimed : 0;
  if ((record & content_bits(program) & ~beginning & ~is_there) != 0)
    return "an operand that has come without being claimed";
  if ((is_there & NIC_EVENTS & beginning) != 0) return "an operand for whom it isn't";
  const bool is_published = (record & NIC_PUBLISHED) != 0;
  const bool has_all = nic_is_complete(&program, record | NIC_PUBLISHED) != 0;
  if (is_published && !gets_nothing && !has_all) return "a result that was published before its operands had come";
  return is_published || !has_all ? "" : "a result that wasn't published";
}

std::string flaw_of_index(const Victim& victim, uint64_t index) {
  for (const auto& flaw_of_word : {flaw_of_record, flaw_of_acknowledgements, flaw_of_promises, flaw_of_call,
                                   flaw_of_claims, flaw_of_pool, flaw_of_content}) {
    const std::string flaw = flaw_of_word(victim, index);
    if (!flaw.empty()) return "record " + std::to_string(index) + ": " + flaw;
  }
  return "";
}

// They all have been the same.
bool is_written_beside(const Victim& victim) {
  if (victim.operands.empty()) return false;
  const auto is_other = [&](const nic_operand& operand) {
    return std::any_of(std::begin(operand.word), std::end(operand.word),
                       [&](uint64_t word) { return word != victim.operands[0].word[0]; });
  };
  return std::any_of(victim.operands.begin(), victim.operands.begin() + Victim::kBeside, is_other) ||
         std::any_of(victim.operands.end() - Victim::kBeside, victim.operands.end(), is_other);
}

}  // namespace

std::string flaw_of(const Victim& victim) {
  const nic_state& state = victim.state;
  if (is_written_beside(victim)) return "an operand beside the group's";
  if (state.completed > state.started) return "complete what has not started";
  if (state.started > state.completed + NIC_IN_FLIGHT) return "more in flight than may be";
  if (victim.reported != state.completed) return "the host was told of other ends than there were";
  const uint64_t cause = state.broken & 0xff;
  if (state.broken != 0 && (cause == 0 || cause >= NIC_CAUSES || state.broken >> 8 >= victim.group.size))
    return "broken for no cause, or by nobody";
  for (uint64_t index = 0; index < NIC_WINDOW; ++index) {
    std::string flaw = flaw_of_index(victim, index);
    if (!flaw.empty()) return flaw;
  }
  for (uint64_t epoch = state.completed + 1; epoch <= state.started && state.broken == 0; ++epoch) {
    if ((nic_look(&state.record[epoch % NIC_WINDOW], epoch) & NIC_STARTED) == 0) return "a start that is forgotten";
  }
  return "";
}

}  // namespace hocket::test
