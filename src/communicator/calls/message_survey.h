// SPDX-License-Identifier: BSD-3-Clause
// How many messages an alltoallv has between nodes, which no rank sees by itself: few are sooner there by themselves,
// of many it is worth taking some together. All ranks ask each other now and then, in a call, and go by the answer
// until they ask again: twice as many calls later while it stays the same, so that asking costs next to nothing.
//
// All ranks of a communicator make the same calls, and so have the same answers at each.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/executor/combiner.h"
#include "engines/executor/program.h"
#include "schedule/plan.h"

namespace hocket::communicator {

// What a call has for it that can go either way.
struct Survey {
  engines::Program sum;  // an allreduction of one number
  schedule::Plan flat;   // each message by itself, instead of Prepared::plan
  uint64_t most_few = 0;
};

class MessageSurvey {
 public:
  // To be called once a call, before anything else.
  bool is_due() { return calls_left_-- == 0; }
  // Of this rank's blocks, those that would be messages between nodes and may be taken together.
  void count(const schedule::Plan& plan, const schedule::Extents& extents, uint64_t longest_short);
  // The numbers that `sum` adds up, and how.
  std::byte* own() { return reinterpret_cast<std::byte*>(&own_); }
  std::byte* all() { return reinterpret_cast<std::byte*>(&all_); }
  static const engines::Combiner& combiner();
  // When all() is there.
  void learn(uint64_t most_few);
  bool are_many() const { return are_many_; }

 private:
  int64_t own_ = 0;
  int64_t all_ = 0;
  uint32_t calls_left_ = 0;
  uint32_t calls_between_ = 0;
  bool are_many_ = false;
};

}  // namespace hocket::communicator
