// SPDX-License-Identifier: BSD-3-Clause
// Ranks that measure together stop together.
#include "probe/stopwatch.h"

#include <gtest/gtest.h>

#include "tools/thread_ranks.h"

namespace hocket::probe {
namespace {

// How often each rank's work was done where they were given these shares: turns, if they are wanted, and phases.
std::vector<uint64_t> counts_of(const std::vector<double>& shares_s, bool has_turns = true) {
  std::vector<uint64_t> counts(shares_s.size());
  bench::ThreadRanks(static_cast<int>(shares_s.size())).run([&](bench::World& world) {
    const auto rank = static_cast<size_t>(world.rank());
    Stopwatch stopwatch(world);
    stopwatch.set_share(shares_s[rank]);
    if (has_turns) stopwatch.turns(true, [&](uint64_t turns) { counts[rank] += turns; });
    stopwatch.phases(true, 1, [&](double* us) {
      ++counts[rank];
      *us = 1;
    });
  });
  return counts;
}

// Ranks of one job may be on nodes of different sizes, or be bound to fewer cores.
TEST(Stopwatch, GoesByTheShareOfRank0) {
  const std::vector<uint64_t> longer = counts_of({0.05, 0.001, 0.02});
  EXPECT_EQ(longer[1], longer[0]);
  EXPECT_EQ(longer[2], longer[0]);
  const std::vector<uint64_t> shorter = counts_of({0.001, 0.05});
  EXPECT_EQ(shorter[1], shorter[0]);
  // No share is the fewest samples: that of another rank doesn't count.
  EXPECT_EQ(counts_of({0, 0.05}, false), counts_of({0, 0}, false));
}

}  // namespace
}  // namespace hocket::probe
