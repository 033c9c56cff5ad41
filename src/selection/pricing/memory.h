// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a node are in each other's way: lines that several want at a time, caches that several read, a memory
// that all copy through, and sockets and caches that are far apart.
//
// A line goes to one rank at a time. A rank that has read what a peer published has the line and reads it again for
// nothing; a counter's line goes with each addition and each look that ends a wait. Looks in vain are not priced.
//
// Thread safety: none; each walk has its own.
#pragma once

#include <unordered_map>
#include <vector>

#include "selection/pricing/times.h"
#include "selection/pricing/walk.h"

namespace hocket::selection {

class Memory {
 public:
  // Both outlive it. `has_core_each`: ranks may be taken to be on the cores of their numbers.
  Memory(const PricedSchedule& schedule, const CostParameters& parameters, bool has_core_each);

  // False: nothing of it has a price, and the rest is not to be asked.
  bool counts() const { return counts_; }
  // When the step, which `rank` could begin at `time`, has the line that it looks at or adds to.
  double reach(uint32_t rank, uint32_t number, double time);
  // When it has what it copies or combines, that takes until `end` if nobody is in its way.
  double move(uint32_t rank, uint32_t number, double begin, double end);

 private:
  struct Line {
    Times times;
    uint32_t last = kNothing;       // the rank that had a counter's line last
    std::vector<uint32_t> have_it;  // of a publication
  };
  struct Place {
    uint32_t cache = 0;
    uint32_t socket = 0;
  };

  void place_ranks(bool has_core_each);
  uint32_t rank_of(uint32_t step) const;
  double farther_us(uint32_t rank, uint32_t other) const;
  double farther_us_per_kib(uint32_t rank, uint32_t other) const;

  const PricedSchedule& schedule_;
  const CostParameters& parameters_;
  bool counts_;
  bool goes_to_memory_ = false;
  std::vector<Place> places_;                     // of each rank; empty: all are together
  std::unordered_map<uint32_t, Line> published_;  // by the step that publishes
  std::unordered_map<uint32_t, Line> counters_;
  std::vector<Times> sources_;   // by rank
  std::vector<Times> memories_;  // by node
};

}  // namespace hocket::selection
