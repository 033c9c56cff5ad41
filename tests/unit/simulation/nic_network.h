// SPDX-License-Identifier: BSD-3-Clause
// NIC engines in simulated time on a simple network: each packet takes a constant time, leaves its source behind the
// one before it, and is lost by a predicate or by a seed. Hosts ring when they are told to, or as soon as they may.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/nic/stage_table.h"
#include "schedule/plan.h"
#include "simulation/core/event_queue.h"
#include "simulation/nic/engines.h"

namespace hocket::test {

struct Wire {
  double latency_us = 0;
  double gap_us = 0;       // between packets of one source
  double us_per_byte = 0;  // until a packet has left
  double loss = 0;
  uint64_t seed = 1;
};

class NicNetwork final : public simulation::NicSurroundings {
 public:
  using Time = simulation::Time;
  using Programs = std::vector<std::vector<nic_program>>;

  NicNetwork(const Wire& wire, const simulation::NicPrices& prices, const Programs& collectives,
             const simulation::NicOptions& options = {});

  // From now on, packets of which it is true are lost.
  void lose(std::function<bool(const nic_message&)> is_lost) { is_lost_ = std::move(is_lost); }
  // The host makes a call then; if as many are under way as may be, as soon as one is complete.
  void ring_at(uint32_t member, double us, const engines::nic::NicCall& call = {});
  void ring_all(double us = 0);
  // Until nothing happens any more.
  void run();

  simulation::NicEngines& engines() { return *engines_; }
  uint32_t size() const { return engines_->size(); }
  // When the host could see that it is complete; in microseconds. Negative: never.
  double completed_us(uint32_t member, uint64_t epoch = 1) const;
  double last_completed_us(uint64_t epoch = 1) const;
  // nullptr: nothing was given.
  const nic_operand* result(uint32_t member, uint64_t epoch) const;
  // Whether nobody has completed what somebody had not started.
  bool was_always_a_barrier() const { return was_always_a_barrier_; }
  uint64_t events() const { return events_; }
  // Of packets of this many words, what the network was told that they have.
  const std::map<uint32_t, uint32_t>& bytes_of_words() const { return bytes_of_words_; }

  Time now() const override { return queue_.now(); }
  void call_at(Time time, uint64_t ticket) override { queue_.push(time, ticket); }
  Time carry(const nic_message& packet, uint32_t bytes, Time ready) override;
  void carry_to_all(const nic_message& packet, uint32_t bytes, Time ready, std::vector<Time>& arrivals) override;
  Time work(uint32_t member, Time ready, Time length) override;
  void give(uint32_t member, uint64_t epoch, const nic_operand& result) override;
  void complete(uint32_t member, uint64_t epoch, Time time) override;

 private:
  struct Ring {
    uint32_t member;
    engines::nic::NicCall call;
    nic_operand operand;
  };
  static constexpr uint64_t kRing = uint64_t{1} << 62;
  static constexpr uint64_t kAgain = uint64_t{1} << 63;

  void ring(uint64_t number);
  Time leave(uint32_t member, uint32_t bytes, Time ready);
  bool is_lost(const nic_message& packet);

  Wire wire_;
  std::function<bool(const nic_message&)> is_lost_;
  simulation::EventQueue<uint64_t> queue_;
  std::unique_ptr<simulation::NicEngines> engines_;
  std::vector<Ring> rings_;
  std::vector<std::deque<uint64_t>> waiting_;  // by member: rings
  std::vector<Time> wire_free_, processor_free_;
  std::vector<std::vector<Time>> completed_;
  std::map<std::pair<uint32_t, uint64_t>, nic_operand> results_;
  std::map<uint64_t, uint32_t> members_in_;  // by epoch: how many members
  std::map<uint32_t, uint32_t> bytes_of_words_;
  uint64_t packets_ = 0;
  uint64_t events_ = 0;
  bool was_always_a_barrier_ = true;
};

// All members' parts of a barrier.
std::vector<nic_program> barrier_programs(const char* name, uint32_t size,
                                          engines::nic::Mode mode = engines::nic::Mode::kCollective,
                                          uint32_t degree = 0);

}  // namespace hocket::test
