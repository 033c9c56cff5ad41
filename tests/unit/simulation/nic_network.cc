// SPDX-License-Identifier: BSD-3-Clause
#include "nic_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/algorithm.h"
#include "simulation/core/random.h"

namespace hocket::test {

using simulation::from_us;
using simulation::kNever;
using simulation::Time;

NicNetwork::NicNetwork(const Wire& wire, const simulation::NicPrices& prices, const Programs& collectives,
                       const simulation::NicOptions& options)
    : wire_(wire) {
  auto engines = simulation::NicEngines::make(*this, prices, collectives, options);
  EXPECT_TRUE(engines.is_ok()) << (engines.is_ok() ? "" : engines.status().message());
  engines_ = engines.take();
  waiting_.resize(size());
  wire_free_.resize(size());
  processor_free_.resize(size());
  completed_.resize(size());
}

void NicNetwork::ring_at(uint32_t member, double us, const engines::nic::NicCall& call) {
  Ring ring = {member, call, {}};
  if (call.operand != nullptr) ring.operand = *call.operand;
  queue_.push(from_us(us), kRing + rings_.size());
  rings_.push_back(ring);
}

void NicNetwork::ring_all(double us) {
  for (uint32_t member = 0; member < size(); ++member) ring_at(member, us);
}

void NicNetwork::ring(uint64_t number) {
  Ring& ring = rings_[number];
  std::deque<uint64_t>& waiting = waiting_[ring.member];
  if (!waiting.empty() && waiting.front() != number) return waiting.push_back(number);
  if (ring.call.operand != nullptr) ring.call.operand = &ring.operand;
  // What is complete at once counts it as started.
  const uint64_t epoch = engines_->started(ring.member) + 1;
  ++members_in_[epoch];
  const nic_verdict verdict = engines_->ring(ring.member, ring.call);
  if (verdict == NIC_TAKEN) {
    if (!waiting.empty()) waiting.pop_front();
    return;
  }
  --members_in_[epoch];
  ASSERT_EQ(verdict, NIC_TOO_MANY);
  if (waiting.empty()) waiting.push_back(number);
}

void NicNetwork::run() {
  while (!queue_.is_empty()) {
    const uint64_t ticket = queue_.pop().event;
    ++events_;
    if (ticket >= kAgain) {
      std::deque<uint64_t>& waiting = waiting_[ticket - kAgain];
      if (!waiting.empty()) ring(waiting.front());
    } else if (ticket >= kRing) {
      ring(ticket - kRing);
    } else {
      engines_->happen(ticket);
    }
  }
}

double NicNetwork::completed_us(uint32_t member, uint64_t epoch) const {
  return epoch > completed_[member].size() ? -1 : simulation::to_us(completed_[member][epoch - 1]);
}

double NicNetwork::last_completed_us(uint64_t epoch) const {
  double last_us = 0;
  for (uint32_t member = 0; member < size(); ++member) {
    if (completed_us(member, epoch) < 0) return -1;
    last_us = std::max(last_us, completed_us(member, epoch));
  }
  return last_us;
}

const nic_operand* NicNetwork::result(uint32_t member, uint64_t epoch) const {
  const auto found = results_.find({member, epoch});
  return found == results_.end() ? nullptr : &found->second;
}

Time NicNetwork::leave(uint32_t member, uint32_t bytes, Time ready) {
  const Time begin = std::max(ready, wire_free_[member]);
  const Time end = begin + from_us(wire_.us_per_byte * bytes);
  wire_free_[member] = end + from_us(wire_.gap_us);
  return end;
}

bool NicNetwork::is_lost(const nic_message& packet) {
  const double chance = simulation::random_fraction(wire_.seed, simulation::Purpose::kLoss, packets_++);
  return chance < wire_.loss || (is_lost_ && is_lost_(packet));
}

Time NicNetwork::carry(const nic_message& packet, uint32_t bytes, Time ready) {
  EXPECT_GE(ready, now());
  bytes_of_words_[packet.carried] = bytes;
  const Time left = leave(packet.source, bytes, ready);
  return is_lost(packet) ? kNever : left + from_us(wire_.latency_us);
}

void NicNetwork::carry_to_all(const nic_message& packet, uint32_t bytes, Time ready, std::vector<Time>& arrivals) {
  const Time left = leave(packet.source, bytes, ready);
  for (uint32_t member = 0; member < size(); ++member)
    if (member != packet.source) arrivals[member] = is_lost(packet) ? kNever : left + from_us(wire_.latency_us);
}

Time NicNetwork::work(uint32_t member, Time ready, Time length) {
  return processor_free_[member] = std::max(ready, processor_free_[member]) + length;
}

void NicNetwork::give(uint32_t member, uint64_t epoch, const nic_operand& result) {
  EXPECT_TRUE(results_.emplace(std::pair(member, epoch), result).second) << "given twice";
}

void NicNetwork::complete(uint32_t member, uint64_t epoch, Time time) {
  EXPECT_EQ(completed_[member].size() + 1, epoch);
  completed_[member].push_back(time);
  if (members_in_[epoch] != size()) was_always_a_barrier_ = false;
  if (!waiting_[member].empty()) queue_.push(time, kAgain + member);
}

std::vector<nic_program> barrier_programs(const char* name, uint32_t size, engines::nic::Mode mode, uint32_t degree) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, name);
  Result<std::vector<nic_program>> programs = engines::nic::stage_tables(size, {mode}, [&](uint32_t rank) {
    return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree});
  });
  EXPECT_TRUE(programs.is_ok()) << (programs.is_ok() ? "" : programs.status().message());
  return programs.take();
}

}  // namespace hocket::test
