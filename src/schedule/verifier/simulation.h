// SPDX-License-Identifier: BSD-3-Clause
// Carries out the steps of all ranks, symbolically, in one of the orders that they allow. Which one doesn't matter:
// whatever could come out differently in another order is found by the rules in slots.h and counters.h,
// and messages are matched by order alone.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/verifier/counters.h"
#include "schedule/verifier/multicast.h"
#include "schedule/verifier/multicast_rows.h"
#include "schedule/verifier/slots.h"
#include "schedule/verifier/world.h"

namespace hocket::schedule {

class Simulation {
 public:
  Simulation(World& world, std::vector<std::vector<Operands>> operands);

  // False if it ended in a deadlock, which has been complained about.
  bool run();
  void check_totals() {
    counters_.check_totals();
    multicasts_.check();
    rows_.check();
  }

 private:
  struct Rank {
    uint32_t begin = 0;  // of the current stage
    uint32_t end = 0;
    uint32_t pending = 0;           // steps of it not done yet
    std::vector<uint32_t> blocked;  // those of them that wait for a slot or counter
    bool finished = false;
  };
  // Steps of an ordered pair's current stages that await their match: singly linked lists of step numbers + 1.
  struct Channel {
    uint32_t first_send = 0;
    uint32_t last_send = 0;
    uint32_t first_receive = 0;
    uint32_t last_receive = 0;
  };

  const Operands& operands(Where where) const { return operands_[where.rank][where.step]; }
  Channel& channel(uint32_t from, uint32_t to) { return channels_[static_cast<size_t>(from) * world_.size() + to]; }
  void begin_stage(uint32_t rank);
  void advance(uint32_t rank);
  bool try_blocked(uint32_t rank);
  void start(Where where);
  void post(Where where);
  void match(uint32_t from, uint32_t to);
  void transfer(Where send, Where receive);
  void take(Where send, Where receive);
  void take_first(Where send, Where receive);
  void run_one_sided(Where where);
  bool is_ready(Where where) const;
  void run_waiting(Where where);
  void run_local(Where where);
  void done(uint32_t rank);
  // destination = source; destination = left (op) right.
  void copy(Where where, uint32_t from_rank, std::span<const Cell> source, std::span<Cell> destination);
  void combine(Where where, std::span<const Cell> left, std::span<const Cell> right, std::span<Cell> destination);
  void combine_incoming(Where where, std::span<const Cell> incoming);
  void explain_deadlock();
  std::string explain_blocked(Where where) const;

  World& world_;
  std::vector<std::vector<Operands>> operands_;
  std::vector<std::vector<uint32_t>> next_;
  Slots slots_;
  Counters counters_;
  Multicasts multicasts_;
  MulticastRows rows_;
  std::vector<Rank> ranks_;
  std::vector<Channel> channels_;
  std::vector<uint32_t> ready_;  // ranks whose stage may be over
};

}  // namespace hocket::schedule
