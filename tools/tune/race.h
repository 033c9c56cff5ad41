// SPDX-License-Identifier: BSD-3-Clause
// Many variants in one cell, of which only the best are measured for long: the slow ones are dropped early, and what
// is left gets their time.
//
// Collective over the ranks, which all come to the same result. Throws std::runtime_error on a wrong result.
//
// Thread safety: none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/contest.h"

namespace hocket::command {

struct RaceCell {
  schedule::Collective collective = schedule::Collective::kBarrier;
  uint64_t bytes = 0;
};

struct RaceResult {
  size_t variant = 0;  // which of the variants
  double isolated_us = 0;
  double back_to_back_us = 0;
  uint64_t calls = 0;
  double wobble = 1;  // by what factor the two halves of the race differ: the machine's noise

  double us() const;  // the geometric mean of both
};

// Takes about `share_s` seconds; more where even the shortest race takes longer. Variants that refuse or were dropped
// at the first glance are missing in the result. `drops`: false measures all of them equally long.
std::vector<RaceResult> race(const bench::Options& options, const RaceCell& cell, bench::World& world,
                             const bench::Buffers& buffers, std::span<bench::Variant* const> variants, double share_s,
                             bool drops = true);

}  // namespace hocket::command
