// SPDX-License-Identifier: BSD-3-Clause
// Ranks that measure together stop together.
#include "probe/stopwatch.h"

#include <gtest/gtest.h>

#include "tools/thread_ranks.h"

namespace hocket::probe {
namespace {

// How often each rank's work was done where they were given these shares.
std::vector<uint64_t> turns_of(const std::vector<double>& shares_s) {
  std::vector<uint64_t> counts(shares_s.size());
  bench::ThreadRanks(static_cast<int>(shares_s.size())).run([&](bench::World& world) {
    const auto rank = static_cast<size_t>(world.rank());
    Stopwatch stopwatch(world);
    stopwatch.set_share(shares_s[rank]);
    stopwatch.turns(true, [&](uint64_t turns) { counts[rank] += turns; });
    stopwatch.phases(true, 1, [&](double* us) {
      ++counts[rank];
      *us = 1;
    });
  });
  return counts;
}

// Ranks of one job may be on nodes of different sizes, or be bound to fewer cores.
TEST(Stopwatch, GoesByTheShareOfRank0) {
  const std::vector<uint64_t> longer = turns_of({0.05, 0.001, 0.02});
  EXPECT_EQ(longer[1], longer[0]);
  EXPECT_EQ(longer[2], longer[0]);
  const std::vector<uint64_t> shorter = turns_of({0.001, 0.05});
  EXPECT_EQ(shorter[1], shorter[0]);
}

}  // namespace
}  // namespace hocket::probe
