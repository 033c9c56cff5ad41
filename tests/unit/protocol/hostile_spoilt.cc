// SPDX-License-Identifier: BSD-3-Clause
// Packets that are signed and wrong in one thing.
#include <bit>
#include <iterator>

#include "hostile_packets.h"

namespace hocket::test {
namespace {

constexpr uint32_t kNoVote = 0;  // a program of each group

}  // namespace

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
      message.kind = static_cast<uint8_t>(NIC_KINDS + below(16 - NIC_KINDS));
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
      if ((p.flags & NIC_VOTES) != 0) message = message_of(victim, kNoVote);
      message.kind = NIC_VETO;
      return {message, NIC_NOT_EXPECTED, "a veto where nobody votes"};
    case 7:
      if ((p.flags & NIC_VOTES) != 0) message = message_of(victim, kNoVote);
      message.target = NIC_ALL;
      return {message, NIC_NOT_EXPECTED, "for all where nobody votes"};
    default:
      break;
  }
  // An operation that has started here, by another program.
  if (state.started == state.completed) return spoil_any(victim);
  message = message_of(victim, program, state.completed + 1 + below(state.started - state.completed));
  if (nic_program_of(state.record[message.epoch % NIC_WINDOW]) == program) return spoil_any(victim);
  return {message, NIC_DISAGREEMENT, "another program"};
}

// A call that the message's program can't do.
void HostilePackets::make_unsound(const Victim& victim, nic_message& message) {
  const nic_program& p = victim.group.program[message.program];
  const auto any = [&] { return static_cast<uint8_t>(1 + below(15)); };
  if (p.operands == 0) {
    switch (below(4)) {
      case 0:
        message.root = static_cast<uint16_t>(1 + below(UINT16_MAX));
        return;
      case 1:
        message.words = static_cast<uint8_t>(1 + below(UINT8_MAX));
        return;
      case 2:
        message.operation = any();
        return;
      default:
        message.type = any();
        return;
    }
  }
  switch (below(6)) {
    case 0:
      // From a root that is nobody nothing comes at all.
      if (p.arrival[message.bit].member == NIC_ROOT) {
        message.words = 0;
      } else {
        const uint32_t roots = nic_has_root(&p) != 0 ? victim.group.size : 1u;
        message.root = static_cast<uint16_t>(roots + below(1u + UINT16_MAX - roots));
      }
      return;
    case 1:
      message.words = 0;
      return;
    case 2:
      message.words = static_cast<uint8_t>(NIC_MOST_WORDS + 1 + below(UINT8_MAX - NIC_MOST_WORDS));
      return;
    case 3:
      message.operation = static_cast<uint8_t>(NIC_OPERATIONS_END + below(17 - NIC_OPERATIONS_END));
      return;
    case 4:
      message.type = static_cast<uint8_t>(NIC_TYPES_END + below(17 - NIC_TYPES_END));
      return;
    default:
      if (p.slices != 0 && below(2) == 0) {
        message.words = static_cast<uint8_t>(p.slices + 1);
        return;
      }
      message.type = below(2) == 0 ? NIC_DOUBLE : NIC_FLOAT;
      message.operation = static_cast<uint8_t>(NIC_BIT_AND + below(NIC_SUM - NIC_BIT_AND));
  }
}

HostilePackets::Spoilt HostilePackets::spoil_call(const Victim& victim) {
  nic_message message = message_of(victim, static_cast<uint32_t>(below(victim.group.programs)));
  if (below(2) == 0) {
    make_unsound(victim, message);
    return {message, NIC_UNSOUND, "a call that can't be"};
  }
  const uint8_t right = message.carried;
  while (message.carried == right) message.carried = static_cast<uint8_t>(below(NIC_MOST_WORDS + 1));
  return {message, NIC_UNSOUND, "an operand of another length"};
}

// What only the root gets, for somebody else.
HostilePackets::Spoilt HostilePackets::spoil_result(const Victim& victim) {
  const uint32_t program = program_with(victim, NIC_TO_ROOT);
  const nic_program& p = victim.group.program[program];
  if (p.arrival[0].member >= victim.group.size) return spoil_any(victim);
  nic_message message = message_of(victim, program);
  message.root = other_member(victim, victim.group.self);
  message.bit = 0;
  message.source = p.arrival[0].member;
  message.send = p.arrival[0].send;
  message.carried = message.words;
  return {message, NIC_NOT_EXPECTED, "a result for who isn't the root"};
}

// An operand that has come already, as another one.
HostilePackets::Spoilt HostilePackets::repeat_operand(const Victim& victim) {
  for (uint64_t tries = 0; tries < NIC_WINDOW; ++tries) {
    const uint64_t epoch = near(victim);
    const uint64_t claimed = nic_look(&victim.state.claimed[epoch % NIC_WINDOW], epoch) & NIC_EVENTS;
    if (claimed == 0) continue;
    nic_message message = message_of(victim, program_of_epoch(victim, epoch), epoch);
    if (set_arrival(victim, message, static_cast<uint8_t>(std::countr_zero(claimed))))
      return {message, NIC_DUPLICATE, "an operand once more, another"};
  }
  return spoil_any(victim);
}

// Of an operation that has started here, and by the program that it has.
HostilePackets::Spoilt HostilePackets::change_call(const Victim& victim) {
  const nic_state& state = victim.state;
  if (state.started == state.completed) return spoil_any(victim);
  const uint64_t epoch = state.completed + 1 + below(state.started - state.completed);
  nic_message message = message_of(victim, program_of_epoch(victim, epoch), epoch);
  const uint64_t call = nic_described(&state.call[nic_index_of(epoch)], epoch);
  if (victim.group.program[message.program].operands == 0) return spoil_any(victim);
  do {
    set_random_call(victim, message);
  } while (nic_call_of(&message) == call || !set_arrival(victim, message, message.bit));
  return {message, NIC_DISAGREEMENT, "another call"};
}

HostilePackets::Spoilt HostilePackets::spoil_content(const Victim& victim) {
  if (victim.group.operands == 0) return spoil_call(victim);
  switch (below(4)) {
    case 0:
      return spoil_result(victim);
    case 1:
      return repeat_operand(victim);
    case 2:
      return change_call(victim);
    default:
      break;
  }
  const uint64_t first = victim.state.started + victim.group.unexpected + 1;
  const uint64_t last = victim.state.completed + NIC_WINDOW;
  if (first > last) return spoil_any(victim);
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const nic_message message = message_of(victim, program, first + below(last - first + 1));
  if (message.carried == 0) return spoil_any(victim);
  if ((victim.group.program[program].flags & NIC_RELIABLE_WIRE) != 0) return spoil_any(victim);
  return {message, NIC_REJECTED, "an operand too early"};
}

HostilePackets::Spoilt HostilePackets::spoil_nack(const Victim& victim) {
  const auto program = static_cast<uint32_t>(below(victim.group.programs));
  const nic_program& p = victim.group.program[program];
  const nic_state& state = victim.state;
  // Of what nobody has started here, so that its program is of no account; but whose root isn't known might be asked
  // for anything.
  uint64_t epoch = state.started + 1 + below(state.completed + NIC_WINDOW - state.started);
  if (nic_has_root(&p) != 0 && state.started != state.completed)
    epoch = state.completed + 1 + below(state.started - state.completed);
  nic_message message = about_send(victim, program, NIC_NACK, epoch);
  const uint64_t word = nic_look(&state.record[nic_index_of(epoch)], epoch);
  const bool is_reached = nic_program_of(word) == program && message.send < nic_sends_reached(&p, word);
  if (nic_has_root(&p) != 0 && !is_reached) return spoil_any(victim);
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
      message.epoch = far_ahead(state.completed + NIC_WINDOW);
      return {message, NIC_EARLY, "asks too early"};
    default:
      message.epoch = state.completed < 2 * NIC_WINDOW ? 0 : below(state.completed - 2 * NIC_WINDOW + 1);
      return {message, NIC_STALE, "asks too late"};
  }
}

HostilePackets::Spoilt HostilePackets::spoil_ack(const Victim& victim) {
  const uint32_t program = program_with(victim, NIC_ACKNOWLEDGED);
  const nic_program& p = victim.group.program[program];
  nic_message message = about_send(victim, program, NIC_ACK, near(victim));
  const uint64_t started = victim.state.started;
  constexpr uint64_t kHalfRound = uint64_t{NIC_WINDOW} * NIC_ROUNDS / 2;
  switch (below(6)) {
    case 0:
      message.send = static_cast<uint8_t>(p.sends + below(256u - p.sends));
      return {message, NIC_NOT_EXPECTED, "acknowledges a send too high"};
    case 1:
      message.source = other_member(victim, message.source);
      return {message, NIC_NOT_EXPECTED, "acknowledges another's"};
    case 2: {
      auto other = static_cast<uint32_t>(below(victim.group.programs));
      if ((victim.group.program[other].flags & NIC_ACKNOWLEDGED) != 0) other = kNoVote;
      message = about_send(victim, other, NIC_ACK, near(victim));
      if (nic_look(&victim.state.owed[nic_index_of(message.epoch)], message.epoch) != 0) return spoil_any(victim);
      return {message, NIC_NOT_EXPECTED, "acknowledges what needs it not"};
    }
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

// What is said of an arrival: that it is owed, or has gone out.
HostilePackets::Spoilt HostilePackets::spoil_answer(const Victim& victim) {
  const nic_state& state = victim.state;
  if (state.started == state.completed) return spoil_any(victim);
  const uint64_t epoch = state.completed + 1 + below(state.started - state.completed);
  const uint32_t program = program_of_epoch(victim, epoch);
  const nic_program& p = victim.group.program[program];
  nic_message message = message_of(victim, program, epoch);
  const bool is_reliable = (p.flags & NIC_RELIABLE_WIRE) != 0;
  message.kind = is_reliable ? NIC_GONE : NIC_LATER;
  message.target = victim.group.self;
  switch (below(6)) {
    case 0:
      message.bit = static_cast<uint8_t>(p.arrivals + below(256u - p.arrivals));
      return {message, NIC_NOT_EXPECTED, "promises a bit too high"};
    case 1:
      message.send = static_cast<uint8_t>(message.send + 1 + below(255));
      return {message, NIC_NOT_EXPECTED, "promises another send"};
    case 2:
      if (p.arrival[message.bit].member == NIC_ROOT) return spoil_any(victim);
      message.source = other_member(victim, message.source);
      return {message, NIC_NOT_EXPECTED, "promises for another"};
    case 3:
      message.kind = is_reliable ? NIC_LATER : NIC_GONE;
      return {message, NIC_NOT_EXPECTED, "promises what such a wire has not"};
    case 4:
      message.epoch = far_ahead(state.started);
      return {message, NIC_EARLY, "promises too early"};
    default:
      message.epoch = below(state.completed + 1);
      return {message, NIC_STALE, "promises what is over"};
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
  message.root = static_cast<uint16_t>(member);
  return {message, NIC_NOT_EXPECTED, has_cause ? "an end by nobody" : "an end for no cause"};
}

HostilePacket HostilePackets::malformed(uint32_t group) {
  const Victim& victim = engine_.groups()[group];
  using Spoil = Spoilt (HostilePackets::*)(const Victim&);
  constexpr Spoil kWays[] = {&HostilePackets::spoil_any,    &HostilePackets::spoil_message,
                             &HostilePackets::spoil_call,   &HostilePackets::spoil_content,
                             &HostilePackets::spoil_nack,   &HostilePackets::spoil_ack,
                             &HostilePackets::spoil_answer, &HostilePackets::spoil_abort};
  const Spoilt spoilt = (this->*kWays[below(std::size(kWays))])(victim);
  HostilePacket packet = signed_by(victim, spoilt.message);
  packet.expected = spoilt.expected;
  packet.what = spoilt.what;
  return packet;
}

}  // namespace hocket::test
