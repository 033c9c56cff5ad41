// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a node are in each other's way: lines that several want at a time, caches that several read, a memory
// that all copy through, and sockets and caches that are far apart.
//
// A line goes to one rank at a time. A rank that has read what a peer published has the line and reads it again for
// nothing; a counter's line goes with each addition and each look that ends a wait. Looks in vain are not priced. Who
// comes first is served first: these functions are called in the order of time.
//
// Thread safety: none; each simulation has its own.
#pragma once

#include <unordered_map>
#include <vector>

#include "simulation/engine/job.h"
#include "simulation/engine/prices.h"

namespace hocket::simulation {

class Memory {
 public:
  // They outlive it. `has_core_each`: ranks may be taken to be on the cores of their numbers.
  Memory(const Job& job, const CostParameters& costs, bool has_core_each);

  // False: nothing of it has a price, and the rest is not to be asked.
  bool counts() const { return counts_; }
  // When the step, which its rank could begin at `time`, has the line that it looks at or adds to.
  Time reach(uint32_t number, Time time);
  // When it has what it copies or combines, which takes until `end` if nobody is in its way.
  Time move(uint32_t number, Time begin, Time end);

 private:
  struct Line {
    Time free_at = 0;
    uint32_t last = kNothing;       // the rank that had a counter's line last
    std::vector<uint32_t> have_it;  // of a publication
  };
  struct Place {
    uint32_t cache = 0;
    uint32_t socket = 0;
  };

  void place_ranks(bool has_core_each);
  static Time serve(Time& free_at, Time ready, Time length) {
    free_at = (ready > free_at ? ready : free_at) + length;
    return free_at;
  }
  Time farther(uint32_t rank, uint32_t other) const;
  double farther_byte(uint32_t rank, uint32_t other) const;

  const Job& job_;
  const CostParameters& costs_;
  bool counts_;
  bool goes_to_memory_ = false;
  Time hot_;
  std::vector<Place> places_;                     // of each rank; empty: all are together
  std::unordered_map<uint32_t, Line> published_;  // by the step that publishes
  std::unordered_map<uint32_t, Line> counters_;
  std::vector<Time> sources_;   // when they are free again, by rank
  std::vector<Time> memories_;  // likewise, by node
};

}  // namespace hocket::simulation
