// SPDX-License-Identifier: BSD-3-Clause
// Schedules in the textual GOAL format, as LogGOPSim and its relatives read and write it (Hoefler, Siebert, Lumsdaine,
// Group Operation Assembly Language, ICPP 2009):
//
//   num_ranks 2
//   rank 0 {
//   a: calc 100                        // 100 ns of the CPU
//   b: send 8b to 1 tag 3 cpu 0 nic 0  // tag, cpu and nic are 0 where they are missing
//   b requires a                       // b starts once a has ended; irequires: once a has started
//   }
//   rank 1 {
//   recv 8b from -1 tag -1             // -1: from anybody, of any tag
//   }
//
// A line holds one operation or one dependency, on operations above it in the same rank; ranks stand in their order.
// Comments are those of C++, anywhere between words. All numbers are whole.
//
// What is read lies in arrays: 100 MB, two million operations, take less than a second and 150 MiB beside the text.
//
// Thread safety: values; parsing is pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hocket::simulation {

// In the order in which LogGOPSim starts what could start at the same time.
enum class GoalKind : uint8_t { kSend, kReceive, kCalculation };

// As the peer, or the tag, of a receive.
inline constexpr uint32_t kAny = ~uint32_t{0};

struct GoalOperation {
  uint64_t amount = 0;  // bytes; of a calculation ns
  uint32_t rank = 0;    // whose it is
  uint32_t peer = 0;
  uint32_t tag = 0;
  uint32_t line = 0;   // of the text, from 1
  uint32_t label = 0;  // where it begins in Goal::labels, which it ends with a 0; 0: there is none
  GoalKind kind = GoalKind::kCalculation;
  uint8_t cpu = 0;
  uint8_t nic = 0;
};

// Which operations wait for an operation, in the order of the text.
class Dependents {
 public:
  struct Pair {
    uint32_t waiting;
    uint32_t awaited;
  };

  Dependents() = default;
  Dependents(size_t operations, std::span<const Pair> pairs);

  std::span<const uint32_t> of(uint32_t operation) const {
    return std::span(waiting_).subspan(first_[operation], first_[operation + 1] - first_[operation]);
  }

 private:
  std::vector<uint32_t> first_ = {0};  // where each operation's begin; one more for the end
  std::vector<uint32_t> waiting_;
};

struct Goal {
  std::string name;  // of the file
  uint32_t ranks = 0;
  std::vector<GoalOperation> operations;  // rank by rank
  std::string labels;
  Dependents after_end;          // those who wait until it has ended
  Dependents after_start;        // those who wait until it has started
  std::vector<uint32_t> awaits;  // of each operation, how many dependencies it has

  // `barrier.goal:17 (l3 of rank 2)`
  std::string place_of(uint32_t operation) const;
};

// The longest text that is read.
inline constexpr uint64_t kMostGoalBytes = (uint64_t{4} << 30) - 1;

// `name`: what messages call the text. kInvalidArgument says the line, what stands there and what belongs there.
Result<Goal> parse_goal(std::string_view text, std::string_view name);

}  // namespace hocket::simulation
