// SPDX-License-Identifier: BSD-3-Clause
// The verifier's view of counters: what a wait on one implies.
//
// A wait for v passes when additions of at least v have been made, but which ones? All those, at least, without
// which (and without what can only come after them) v could not have been reached. Only these count as known.
// A wait whose known additions don't sum up to v is ambiguous, and a mistake.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/verifier/world.h"

namespace hocket::schedule {

class Counters {
 public:
  explicit Counters(World& world);

  bool ready(Where where) const;
  void wait(Where where);
  void add(Where where);
  // All additions were announced, and waited for by the ranks that must.
  void check_totals();

 private:
  struct Addition {
    Where where;
    uint32_t stage;
    uint32_t value;
    uint32_t depth;
    size_t clock;
  };
  struct Wait {
    Where where;
    uint32_t stage;
    uint32_t value;
    size_t known;  // how many additions it implies
  };
  struct Counter {
    uint64_t sum = 0;
    std::vector<Addition> additions;
    std::vector<Wait> waits;
    bool several_adders = false;
  };

  size_t index(Where where) const;
  std::vector<const Addition*> known_additions(const Counter& counter, const Wait& wait) const;
  bool is_after(const Addition& later, const Addition& earlier) const;
  uint32_t highest_wait(const Counter& counter, uint32_t rank) const;
  void check_own_totals(uint32_t rank);
  void check_shared_totals(uint32_t node, uint32_t number);

  World& world_;
  uint32_t numbers_ = 0;           // counters in use per rank
  std::vector<Counter> counters_;  // of rank 0, 1, ...; then those that node 0, 1, ... shares
};

}  // namespace hocket::schedule
