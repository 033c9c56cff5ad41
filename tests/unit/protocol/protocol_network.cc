// SPDX-License-Identifier: BSD-3-Clause
#include "protocol_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/algorithm.h"

namespace hocket::test {

std::function<schedule::Plan(uint32_t)> plans_of(const char* name, uint32_t size, uint32_t degree) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, name);
  return
      [=](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree}); };
}

std::vector<nic_program> programs_of(uint32_t size, const std::function<Result<nic_program>(uint32_t)>& table_of) {
  std::vector<nic_program> programs;
  for (uint32_t rank = 0; rank < size; ++rank) {
    Result<nic_program> program = table_of(rank);
    EXPECT_TRUE(program.is_ok()) << (program.is_ok() ? "" : program.status().message());
    programs.push_back(program.is_ok() ? program.take() : nic_program{});
  }
  return programs;
}

std::vector<nic_program> programs_of(const char* name, uint32_t size, engines::nic::Mode mode, uint32_t degree) {
  const auto plan_of = plans_of(name, size, degree);
  return programs_of(size, [&](uint32_t rank) { return engines::nic::stage_table(rank, {mode}, plan_of); });
}

void run_barriers(ProtocolNetwork& network, uint64_t rounds, uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto is_done = [&] {
    for (uint32_t member = 0; member < network.size(); ++member)
      if (network.completed(member) < rounds) return false;
    return true;
  };
  const uint64_t most_turns = 100'000 + 20 * rounds;
  for (uint64_t turn = 0; !is_done() && turn < most_turns; ++turn) {
    for (uint32_t i = 0; i < network.size(); ++i) {
      const auto member = static_cast<uint32_t>(dice() % network.size());
      if (network.started(member) == rounds || dice() % 4 == 0) continue;
      const nic_verdict verdict = network.start(member);
      ASSERT_TRUE(verdict == NIC_TAKEN || verdict == NIC_TOO_MANY) << verdict;
      for (uint64_t packets = dice() % 4; packets != 0 && network.deliver(); --packets) continue;
    }
    if (dice() % 8 == 0) network.settle_and_tick();
  }
  for (uint32_t member = 0; member < network.size(); ++member) {
    EXPECT_EQ(network.completed(member), rounds) << "member " << member;
    EXPECT_EQ(network.reported(member), rounds) << "member " << member;
    EXPECT_EQ(network.state(member).broken, 0u);
  }
  EXPECT_TRUE(network.was_always_a_barrier());
}

nic_message message_of(nic_kind kind, uint64_t epoch, uint32_t source, uint32_t target, uint8_t program, uint8_t bit,
                       uint8_t send) {
  nic_message message{};
  message.epoch = epoch;
  message.source = static_cast<uint16_t>(source);
  message.target = static_cast<uint16_t>(target);
  message.kind = kind;
  message.program = program;
  message.bit = bit;
  message.send = send;
  return message;
}

ProtocolNetwork::ProtocolNetwork(const std::vector<std::vector<nic_program>>& collectives, Odds odds, uint64_t seed)
    : odds_(odds), dice_(seed) {
  const size_t size = collectives.front().size();
  for (uint32_t member = 0; member < size; ++member) {
    auto engine = std::make_unique<Engine>();
    engine->network = this;
    nic_group& group = engine->group;
    group.id = 77;
    group.self = static_cast<uint16_t>(member);
    group.size = static_cast<uint16_t>(size);
    group.unexpected = NIC_WINDOW;
    for (const std::vector<nic_program>& programs : collectives) {
      group.operands = std::max<uint16_t>(group.operands, programs[member].operands);
      group.program[group.programs++] = programs[member];
    }
    engine->operands.resize(size_t{group.operands} * NIC_WINDOW);
    engine->members.resize(size);
    engine->signs_of_life.resize(size);
    engine->watch.backoff = {.ask_ns = kTickNs, .most_ns = 8 * kTickNs, .silence_ns = 200 * kTickNs};
    engine->watch.member = engine->members.data();
    engine->watch.signs_of_life = engine->signs_of_life.data();
    engine->watch.signs_of_life_stride = sizeof(uint32_t);
    engine->watch.emit = [](void* user, const nic_message* message) {
      Engine& sender = *static_cast<Engine*>(user);
      nic_operand operand{};
      EXPECT_TRUE(nic_carry(&sender.group, &sender.state, sender.memory(), message, nic_call_of(message), &operand) !=
                  0);
      sender.network->send(*message, operand);
    };
    engine->watch.user = engine.get();
    engines_.push_back(std::move(engine));
  }
}

nic_verdict ProtocolNetwork::start(uint32_t member, uint64_t epoch) {
  nic_message doorbell{};
  doorbell.epoch = epoch;
  return start(member, doorbell, {});
}

nic_verdict ProtocolNetwork::start(uint32_t member, const nic_message& doorbell, const nic_operand& operand) {
  Engine& engine = *engines_[member];
  const nic_outcome outcome = nic_start(&engine.group, &engine.state, engine.memory(), &doorbell, &operand);
  act(engine, outcome, doorbell);
  look_at(doorbell.epoch);
  return outcome.verdict;
}

const nic_operand* ProtocolNetwork::result(uint32_t member, uint64_t epoch) const {
  const auto found = engines_[member]->results.find(epoch);
  return found == engines_[member]->results.end() ? nullptr : &found->second;
}

void ProtocolNetwork::keep_unexpected(uint16_t operations) {
  for (const std::unique_ptr<Engine>& engine : engines_) engine->group.unexpected = operations;
}

void ProtocolNetwork::allow_silence(uint64_t silence_ns) {
  for (const std::unique_ptr<Engine>& engine : engines_) engine->watch.backoff.silence_ns = silence_ns;
}

void ProtocolNetwork::begin_after(uint64_t epoch) {
  for (const std::unique_ptr<Engine>& engine : engines_) {
    nic_state& state = engine->state;
    state.started = state.completed = epoch;
    for (uint64_t past = epoch - NIC_WINDOW + 1; past <= epoch; ++past) {
      const uint64_t index = nic_index_of(past);
      state.record[index] = state.claimed[index] = nic_blank(past, 0) | NIC_STARTED;
      state.pool[index] = nic_blank(past, 0);
      state.call[index] = nic_round(past) << NIC_ROUND_SHIFT | NIC_IS_CALL;
    }
  }
}

bool ProtocolNetwork::deliver() {
  const auto late =
      std::find_if(under_way_.begin(), under_way_.end(), [&](const Packet& packet) { return packet.at_ns > now_ns_; });
  const auto come = static_cast<size_t>(late - under_way_.begin());
  if (come == 0) return false;
  const size_t index = odds_.reorder ? dice_() % come : 0;
  const Packet packet = under_way_[index];
  under_way_.erase(under_way_.begin() + static_cast<ptrdiff_t>(index));
  Engine& engine = *engines_[packet.member];
  if (!engine.is_dead) {
    (void)take(engine, packet.message, packet.operand);
    look_at(packet.message.epoch);
  }
  return true;
}

void ProtocolNetwork::settle_and_tick() {
  while (deliver()) continue;
  now_ns_ += kTickNs;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (!engine->is_dead) engine->reported += nic_watch_group(&engine->group, &engine->state, &engine->watch, now_ns_);
  }
}

nic_outcome ProtocolNetwork::take(Engine& engine, const nic_message& message, const nic_operand& operand) {
  if (nic_is_sign_of_life(&engine.group, &engine.state, &message) != 0) ++engine.signs_of_life[message.source];
  nic_hear(&engine.group, &engine.state, &message, now_ns_);
  const nic_outcome outcome = nic_take(&engine.group, &engine.state, engine.memory(), &message, &operand);
  ++verdicts_[outcome.verdict];
  act(engine, outcome, message);
  if (outcome.reply != 0) send(nic_replied(&engine.group, &engine.state, outcome.reply, &message));
  return outcome;
}

void ProtocolNetwork::act(Engine& engine, const nic_outcome& outcome, const nic_message& cause) {
  for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
    nic_message sent;
    nic_operand operand{};
    if (nic_following(&engine.group, &cause, &outcome, number, &sent) == 0) continue;
    EXPECT_TRUE(nic_carry(&engine.group, &engine.state, engine.memory(), &sent, outcome.call, &operand) != 0);
    send(sent, operand);
  }
  engine.reported += outcome.completed;
  if (outcome.publishes == 0) return;
  EXPECT_FALSE(engine.results.contains(cause.epoch)) << "published twice";
  nic_operand& result = engine.results[cause.epoch];
  EXPECT_TRUE(nic_result(&engine.group, &engine.state, engine.memory(), cause.program, cause.epoch, outcome.call,
                         &result) != 0);
  engine.reported += nic_published(&engine.group, &engine.state, cause.program, cause.epoch);
}

void ProtocolNetwork::send(const nic_message& message, const nic_operand& operand) {
  ++sent_[message.kind];
  history_.push_back(message);
  if (message.target != NIC_ALL) return carry(message, operand, message.target);
  ++broadcasts_;
  for (uint32_t member = 0; member < size(); ++member)
    if (member != message.source) carry(message, operand, member);
}

// Whoever gets it: each has a fate of its own.
void ProtocolNetwork::carry(const nic_message& message, const nic_operand& operand, uint32_t member) {
  std::uniform_real_distribution<double> chance(0, 1);
  if (chance(dice_) < odds_.loss || (is_lost_ && is_lost_(message))) return;
  under_way_.push_back({message, operand, member, now_ns_ + odds_.delay_ns});
  if (chance(dice_) < odds_.duplicate) under_way_.push_back({message, operand, member, now_ns_ + odds_.delay_ns});
}

void ProtocolNetwork::look_at(uint64_t epoch) {
  uint64_t least_started = ~uint64_t{0};
  uint64_t most_completed = 0;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    least_started = std::min<uint64_t>(least_started, engine->state.started);
    most_completed = std::max<uint64_t>(most_completed, engine->state.completed);
  }
  if (epoch != 0 && most_completed > least_started) was_always_a_barrier_ = false;
}

bool ProtocolNetwork::has_repeated() const {
  std::set<std::tuple<uint64_t, uint16_t, uint8_t>> gone;
  return std::any_of(history_.begin(), history_.end(), [&](const nic_message& message) {
    return nic_is_of_schedule(&message) != 0 && !gone.emplace(message.epoch, message.source, message.send).second;
  });
}

uint64_t ProtocolNetwork::sent() const { return std::accumulate(std::begin(sent_), std::end(sent_), uint64_t{0}); }

}  // namespace hocket::test
