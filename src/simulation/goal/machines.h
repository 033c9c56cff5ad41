// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a schedule in GOAL compute and communicate with: CPUs and NICs, until when each is occupied, and
// who waits for which.
//
// Those who need the same CPU and the same side of the same NIC form a line, of which only the first stands in the
// queue of events: a thousand sends that are ready together cost a thousand times what one does, not a million times.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "simulation/goal/goal.h"
#include "simulation/goal/key_table.h"

namespace hocket::simulation {

// Later than any time: sums that pass it stay there.
inline constexpr uint64_t kBeyondNs = std::numeric_limits<uint64_t>::max();

// Its place among what happens at the same time: how many events became possible before it.
struct Waiter {
  uint64_t order;
  uint32_t operation;
};

// When the first of a line tries to go on.
struct Turn {
  uint64_t time_ns = kBeyondNs;
  uint64_t order = kBeyondNs;

  bool operator==(const Turn&) const = default;
};

class Machines {
 public:
  explicit Machines(const Goal& goal);

  uint32_t line_of(uint32_t operation) const { return line_of_[operation]; }
  // Where a send's message is served.
  uint32_t arrival_line_of(uint32_t send) const { return arrival_line_of_[send]; }

  uint64_t free_at(uint32_t line) const;
  void occupy_cpu(uint32_t line, uint64_t until) { free_at_[lines_[line].cpu] = until; }
  void occupy_nic(uint32_t line, uint64_t until) { free_at_[lines_[line].nic] = until; }
  // Nothing starts earlier, on neither of both.
  void hold(uint32_t line, uint64_t until);

  bool is_empty(uint32_t line) const { return lines_[line].waiting.empty(); }
  // As soon as CPU and NIC are free, by what is known now. What was the line's turn before is none any more.
  Turn next_turn(uint32_t line) { return lines_[line].turn = {free_at(line), first(line).order}; }
  bool is_turn(uint32_t line, const Turn& turn) const { return !is_empty(line) && lines_[line].turn == turn; }
  // Who has waited longest; there must be one.
  const Waiter& first(uint32_t line) const { return lines_[line].waiting.front(); }
  void add(uint32_t line, Waiter waiter);
  Waiter take_first(uint32_t line);  // its turn is over

  // When each rank's last CPU is free.
  std::vector<uint64_t> finish_ns(uint32_t ranks) const;

 private:
  enum Part : uint32_t { kCpu, kSendingNic, kReceivingNic, kNoNic };
  struct Line {
    uint32_t cpu;
    uint32_t nic;
    std::vector<Waiter> waiting;  // a heap
    Turn turn;
  };

  uint32_t line_with(KeyTable& lines, uint32_t cpu, uint32_t nic);

  KeyTable parts_;                 // by rank, Part and number
  std::vector<uint64_t> free_at_;  // of each part
  std::vector<Line> lines_;
  std::vector<uint32_t> line_of_;
  std::vector<uint32_t> arrival_line_of_;
};

}  // namespace hocket::simulation
