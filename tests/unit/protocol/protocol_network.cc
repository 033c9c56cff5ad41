// SPDX-License-Identifier: BSD-3-Clause
#include "protocol_network.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hocket::test {

ProtocolNetwork::ProtocolNetwork(const std::vector<nic_program>& programs, Odds odds, uint64_t seed)
    : odds_(odds), dice_(seed) {
  for (uint32_t member = 0; member < programs.size(); ++member) {
    auto engine = std::make_unique<Engine>();
    engine->network = this;
    engine->group.id = 77;
    engine->group.self = static_cast<uint16_t>(member);
    engine->group.size = static_cast<uint16_t>(programs.size());
    engine->group.programs = 1;
    engine->group.program[0] = programs[member];
    engine->members.resize(programs.size());
    engine->heard.resize(programs.size());
    engine->watch.patience = {.ask_ns = kTickNs, .most_ns = 8 * kTickNs, .silence_ns = 200 * kTickNs};
    engine->watch.member = engine->members.data();
    engine->watch.heard = engine->heard.data();
    engine->watch.heard_stride = sizeof(uint32_t);
    engine->watch.emit = [](void* user, const nic_message* message) {
      static_cast<Engine*>(user)->network->send(*message);
    };
    engine->watch.user = engine.get();
    engines_.push_back(std::move(engine));
  }
}

nic_verdict ProtocolNetwork::start(uint32_t member, uint64_t epoch) {
  Engine& engine = *engines_[member];
  const nic_outcome outcome = nic_start(&engine.group, &engine.state, 0, epoch);
  act(engine, outcome, 0, epoch);
  look_at(epoch);
  return outcome.verdict;
}

bool ProtocolNetwork::deliver() {
  if (under_way_.empty()) return false;
  const size_t index = odds_.reorder ? dice_() % under_way_.size() : 0;
  std::swap(under_way_[index], under_way_.front());
  const nic_message message = under_way_.front();
  under_way_.pop_front();
  Engine& engine = *engines_[message.target];
  if (!engine.is_dead) {
    (void)take(engine, message);
    look_at(message.epoch);
  }
  return true;
}

void ProtocolNetwork::settle_and_tick() {
  while (deliver()) continue;
  now_ns_ += kTickNs;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    if (!engine->is_dead) engine->told += nic_watch_group(&engine->group, &engine->state, &engine->watch, now_ns_);
  }
}

nic_outcome ProtocolNetwork::take(Engine& engine, const nic_message& message) {
  if (nic_is_sign_of_life(&engine.group, &engine.state, &message) != 0) ++engine.heard[message.source];
  const nic_outcome outcome = nic_take(&engine.group, &engine.state, &message);
  act(engine, outcome, message.program, message.epoch);
  if (outcome.reply != 0) send(nic_replied(&engine.group, &engine.state, outcome.reply, &message));
  return outcome;
}

void ProtocolNetwork::act(Engine& engine, const nic_outcome& outcome, uint8_t program, uint64_t epoch) {
  for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
    nic_message sent;
    if (nic_sent(&engine.group, program, epoch, number, &sent) != 0) send(sent);
  }
  engine.told += outcome.completed;
}

void ProtocolNetwork::send(const nic_message& message) {
  ++sent_[message.kind];
  history_.push_back(message);
  std::uniform_real_distribution<double> chance(0, 1);
  if (chance(dice_) < odds_.loss) return;
  under_way_.push_back(message);
  if (chance(dice_) < odds_.duplicate) under_way_.push_back(message);
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

uint64_t ProtocolNetwork::sent() const { return std::accumulate(std::begin(sent_), std::end(sent_), uint64_t{0}); }

}  // namespace hocket::test
