// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/engines.h"

#include <algorithm>
#include <string>

namespace hocket::simulation {
namespace {

constexpr nic_operand kZeros{};

// A group is as long as its last program: the places of programs that it doesn't have are never looked at.
size_t bytes_of_group(size_t programs) { return offsetof(nic_group, program) + programs * sizeof(nic_program); }

uint16_t operands_of(const std::vector<std::vector<nic_program>>& collectives) {
  uint16_t operands = 0;
  for (const std::vector<nic_program>& parts : collectives)
    for (const nic_program& part : parts) operands = std::max<uint16_t>(operands, part.operands);
  return operands;
}

Status invalid(const std::string& what) { return {Code::kInvalidArgument, what}; }

Status are_sound(const std::vector<std::vector<nic_program>>& collectives, const NicOptions& options) {
  if (collectives.empty() || collectives.size() > NIC_MOST_PROGRAMS)
    return invalid(std::to_string(collectives.size()) + " programs for simulated NIC engines; a group has 1 to " +
                   std::to_string(NIC_MOST_PROGRAMS));
  const size_t size = collectives.front().size();
  if (size == 0 || size > NIC_NOT_USED)
    return invalid(std::to_string(size) + " members of simulated NIC engines; a group has 1 to " +
                   std::to_string(NIC_NOT_USED));
  for (const std::vector<nic_program>& parts : collectives)
    if (parts.size() != size)
      return invalid("simulated NIC engines with a program for " + std::to_string(parts.size()) +
                     " members and one for " + std::to_string(size) + "; they must have the same");
  for (const uint8_t twin : options.synchronizing)
    if (twin >= collectives.size())
      return invalid("program " + std::to_string(twin) + " of simulated NIC engines is to synchronize; there are " +
                     std::to_string(collectives.size()));
  return Status::ok();
}

// Whether an operand that comes is combined with what has come before it.
bool is_combined_on_arrival(const nic_state& state, const nic_program& program, const nic_message& message) {
  if (!nic_is_pooled(&program, nic_arrival_at(&program, message.bit)->operand)) return false;
  return nic_parked(nic_look(&state.pool[nic_index_of(message.epoch)], message.epoch)) != 0;
}

}  // namespace

Result<std::unique_ptr<NicEngines>> NicEngines::make(NicSurroundings& surroundings, const NicPrices& prices,
                                                     const std::vector<std::vector<nic_program>>& collectives,
                                                     const NicOptions& options) {
  HOCKET_TRY(are_sound(collectives, options));
  return std::unique_ptr<NicEngines>(new NicEngines(surroundings, prices, collectives, options));
}

NicEngines::NicEngines(NicSurroundings& surroundings, const NicPrices& prices,
                       const std::vector<std::vector<nic_program>>& collectives, const NicOptions& options)
    : surroundings_(surroundings),
      lengths_{from_us(prices.start_us), from_us(prices.arrival_us), from_us(prices.send_us),
               from_us(prices.word_us),  from_us(prices.record_us),  from_us(prices.notify_us)},
      sums_{from_us(prices.combine_us), from_us(prices.combine_floating_us)},
      options_(options),
      group_bytes_(bytes_of_group(collectives.size())),
      groups_(std::make_unique<std::byte[]>(group_bytes_ * collectives.front().size())),
      members_(collectives.front().size()),
      places_(size(), operands_of(collectives)),
      watched_(size()),
      signs_(size()) {
  for (uint32_t member = 0; member < size(); ++member) {
    nic_group& group = group_of(member);
    group.id = 1;
    group.self = static_cast<uint16_t>(member);
    group.size = static_cast<uint16_t>(size());
    group.operands = operands_of(collectives);
    group.unexpected = options.unexpected;
    for (const std::vector<nic_program>& parts : collectives) group.program[group.programs++] = parts[member];
  }
}

nic_group& NicEngines::group_of(uint32_t member) const {
  return *reinterpret_cast<nic_group*>(&groups_[group_bytes_ * member]);
}

size_t NicEngines::bytes() const {
  size_t bytes = group_bytes_ * size() + members_.capacity() * sizeof(Member) + places_.bytes() + packets_.bytes() +
                 contents_.bytes() + size() * (sizeof(Time) + sizeof(nic_watched_member) + sizeof(uint32_t));
  for (const Member& member : members_)
    bytes += member.signs.capacity() * sizeof(SignsOfLife) + (member.watch != nullptr ? sizeof(nic_watch) : 0);
  return bytes;
}

nic_verdict NicEngines::ring(uint32_t member, const engines::nic::NicCall& call) {
  Member& own = members_[member];
  const nic_group& group = group_of(member);
  nic_message doorbell = nic_outgoing(&group, NIC_MESSAGE, own.state.started + 1, static_cast<__u8>(call.program));
  if (doorbell.epoch % NIC_SYNCHRONIZES == 0 && call.program < options_.synchronizing.size())
    doorbell.program = options_.synchronizing[call.program];
  if (call.program >= group.programs) return NIC_NO_PROGRAM;
  const nic_program& program = *nic_program_at(&group, doorbell.program);
  doorbell.root = static_cast<__u16>(call.root);
  doorbell.words = call.words;
  doorbell.operation = call.operation;
  doorbell.type = call.type;
  doorbell.carried = static_cast<__u8>(nic_words_of_host(&group, &program, &doorbell));
  const nic_operand* operand = call.operand != nullptr ? call.operand : &kZeros;
  const nic_outcome outcome =
      nic_start(&group, &own.state, places_.memory_of(member, doorbell.epoch), &doorbell, operand);
  if (outcome.verdict != NIC_TAKEN) return outcome.verdict;
  own.started_ns[doorbell.epoch % NIC_IN_FLIGHT] = now_ns();
  const Time begin = surroundings_.now();
  const Time ready = surroundings_.work(member, begin, lengths_.start + lengths_.word * doorbell.carried);
  tell(member, act(member, outcome, doorbell, ready));
  look_at(member, begin + from_us(options_.ask_us));
  return NIC_TAKEN;
}

void NicEngines::happen(uint64_t ticket) {
  if (ticket >= kNicLook) return look(static_cast<uint32_t>(ticket - kNicLook));
  const auto number = static_cast<uint32_t>(ticket);
  const Packet packet = packets_[number];
  packets_.release(number);
  take(packet);
  if (packet.content != kNothing) contents_.release(packet.content);
}

void NicEngines::take(const Packet& packet) {
  const nic_message& message = packet.message;
  const uint32_t member = packet.receiver;
  Member& own = members_[member];
  const nic_group& group = group_of(member);
  if (nic_is_sign_of_life(&group, &own.state, &message) != 0) own.note_sign_of_life(message.source);
  nic_hear(&group, &own.state, &message, now_ns());
  const bool is_combined =
      message.carried != 0 && is_combined_on_arrival(own.state, *nic_program_at(&group, message.program), message);
  const nic_operand& operand = packet.content != kNothing ? contents_[packet.content] : kZeros;
  const nic_outcome outcome =
      nic_take(&group, &own.state, places_.memory_of(member, message.epoch), &message, &operand);
  ++counts_.verdicts[outcome.verdict];
  Time length = lengths_.arrival + lengths_.word * message.carried;
  if (is_combined && outcome.verdict == NIC_TAKEN) length += sums_.pairs(message.carried, nic_call_of(&message));
  Time ready = surroundings_.work(member, surroundings_.now(), length);
  ready = act(member, outcome, message, ready);
  tell(member, ready);
  if (outcome.reply != 0) (void)send(member, nic_replied(&group, &own.state, outcome.reply, &message), 0, true, ready);
}

Time NicEngines::act(uint32_t member, const nic_outcome& outcome, const nic_message& cause, Time ready) {
  const nic_group& group = group_of(member);
  nic_state& state = members_[member].state;
  // The same content for several is worked out once.
  nic_content folded{};
  for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
    nic_message sent;
    if (nic_following(&group, &cause, &outcome, number, &sent) == 0) continue;
    const nic_content content = nic_send_at(nic_program_at(&group, sent.program), number)->content;
    const bool is_folded = content.first == folded.first && content.end == folded.end;
    folded = content;
    if (outcome.repeats != 0) ++counts_.repeated;
    ready = send(member, sent, outcome.call, is_folded, ready);
  }
  if (outcome.publishes == 0) return ready;
  nic_operand result{};
  const nic_program& program = *nic_program_at(&group, cause.program);
  (void)nic_result(&group, &state, places_.memory_of(member, cause.epoch), cause.program, cause.epoch, outcome.call,
                   &result);
  ready = surroundings_.work(member, ready, sums_.content(program, program.result.content, outcome.call));
  surroundings_.give(member, cause.epoch, result);
  (void)nic_published(&group, &state, cause.program, cause.epoch);
  return ready;
}

// `is_folded`: what it carries has been worked out for the message before.
Time NicEngines::send(uint32_t member, const nic_message& message, uint64_t call, bool is_folded, Time ready) {
  const nic_group& group = group_of(member);
  Time length = lengths_.send + lengths_.word * message.carried;
  uint32_t content = kNothing;
  if (nic_is_of_schedule(&message)) {
    const nic_program& program = *nic_program_at(&group, message.program);
    if ((program.flags & NIC_ACKNOWLEDGED) != 0) length += lengths_.record;
    if (message.carried != 0) {
      content = contents_.take();
      (void)nic_carry(&group, &members_[member].state, places_.memory_of(member, message.epoch), &message, call,
                      &contents_[content]);
      if (!is_folded) length += sums_.content(program, nic_send_at(&program, message.send)->content, call);
    }
  }
  ready = surroundings_.work(member, ready, length);
  dispatch(message, content, ready);
  return ready;
}

void NicEngines::dispatch(const nic_message& message, uint32_t content, Time ready) {
  ++counts_.sent[message.kind];
  const uint32_t bytes = options_.framing_bytes + NIC_HEADER_BYTES + uint32_t{message.carried} * 8;
  if (message.target != NIC_ALL)
    return arrive(message, message.target, content, ready, surroundings_.carry(message, bytes, ready));
  ++counts_.to_all;
  arrivals_.assign(size(), kNever);
  surroundings_.carry_to_all(message, bytes, ready, arrivals_);
  for (uint32_t receiver = 0; receiver < size(); ++receiver)
    if (receiver != message.source) arrive(message, receiver, kNothing, ready, arrivals_[receiver]);
}

void NicEngines::arrive(const nic_message& message, uint32_t receiver, uint32_t content, Time ready, Time arrival) {
  if (options_.keeps_history) history_.push_back({ready, arrival, receiver, message});
  if (arrival == kNever) {
    ++counts_.lost;
    if (content != kNothing) contents_.release(content);
    return;
  }
  const uint32_t number = packets_.take();
  packets_[number] = {message, receiver, content};
  surroundings_.call_at(arrival, number);
}

void NicEngines::tell(uint32_t member, Time ready) {
  Member& own = members_[member];
  while (own.told < own.state.completed) {
    ++own.told;
    places_.complete(own.told);
    surroundings_.complete(member, own.told, ready + lengths_.notify);
  }
}

}  // namespace hocket::simulation
