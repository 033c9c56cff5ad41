// SPDX-License-Identifier: BSD-3-Clause
// The verifier's rules for multicasts.
//
// Any of them may come to anybody or not, at any time, so nothing may count on one: a step that takes the first of two
// is proved as if the message came, must get the same data by the multicast, and knows afterwards only what either way
// implies. Ranks count the multicasts of each source, so a rank that takes one of them takes all.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "schedule/verifier/world.h"

namespace hocket::schedule {

class Multicasts {
 public:
  explicit Multicasts(World& world) : world_(world), sent_(world.size()), clock_(world.size()) {}

  // kMulticast.
  void send(Where where, Span source);
  // kFirstOf, in the order of the rank's steps: it is the next of its source's.
  void expect(Where where);
  // Its message has come, `message` being the step that sent it: what is known then, until the next call, and how deep
  // the chain of steps is if the multicast comes.
  struct Arrival {
    const uint32_t* clock;
    uint32_t depth;
  };
  Arrival arrive(Where where, Where message);
  // What the step has taken by the message.
  void taken(Where where, std::span<const Cell> cells);
  // When all steps are done: what came by either way is the same, and all take the same multicasts.
  void check();

 private:
  struct Sent {
    Where where;
    std::vector<Cell> cells;
    size_t clock = 0;
    uint32_t depth = 0;
  };
  struct Taken {
    Where where;
    uint32_t number = 0;
    std::vector<Cell> cells;
  };
  const Sent* sent(uint32_t source, uint32_t number) const;

  World& world_;
  std::vector<std::vector<Sent>> sent_;                         // by source
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> expected_;  // by rank and source: how many
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;   // by rank and step
  std::vector<Taken> taken_;
  std::vector<uint32_t> clock_;
};

}  // namespace hocket::schedule
