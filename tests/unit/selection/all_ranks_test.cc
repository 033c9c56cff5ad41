// SPDX-License-Identifier: BSD-3-Clause
#include "selection/all_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hocket::selection {
namespace {

using schedule::Collective;

const Spec kDissemination{algorithms::find(Collective::kBarrier, "dissemination")};

Query barrier(const schedule::Nodes& nodes) {
  return {.collective = Collective::kBarrier, .ranks = nodes.ranks(), .nodes = &nodes};
}

TEST(OnAllRanks, TakesAsManyRoundsAsAllRanksNeed) {
  const Table table;
  const auto us = [&](uint32_t ranks) {
    const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(ranks, 1));
    const OnAllRanks all = simulate_on_all_ranks(barrier(nodes), table, kDissemination);
    EXPECT_EQ(all.left_out, 0u);
    EXPECT_TRUE(std::is_sorted(all.simulated.begin(), all.simulated.end(),
                               [](const Prediction& a, const Prediction& b) { return a.us < b.us; }));
    EXPECT_GT(all.simulated.size(), 4u);
    for (const Prediction& one : all.simulated)
      if (one.spec == kDissemination) return one.us;
    ADD_FAILURE() << "the chosen one is missing";
    return 0.0;
  };
  // Where the choice sees 64 ranks in both cases.
  EXPECT_NEAR(us(1024) / us(256), 10.0 / 8, 1e-9);
}

TEST(OnAllRanks, LeavesOutWhatWouldTakeTooManySteps) {
  const Table table;
  const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(256, 1));
  const OnAllRanks all = simulate_on_all_ranks(barrier(nodes), table, kDissemination);
  // Two steps a round.
  const OnAllRanks one = simulate_on_all_ranks(barrier(nodes), table, kDissemination, 256 * 8 * 2 + 1);
  ASSERT_EQ(one.simulated.size(), 1u);
  EXPECT_EQ(one.simulated.front().spec, kDissemination);
  EXPECT_EQ(one.left_out, all.simulated.size() - 1);
  const OnAllRanks none = simulate_on_all_ranks(barrier(nodes), table, kDissemination, 256 * 8 * 2);
  for (const Prediction& other : none.simulated) EXPECT_FALSE(other.spec == kDissemination);
  EXPECT_EQ(none.left_out + none.simulated.size(), all.simulated.size());
}

TEST(OnAllRanks, ARootsManyStepsCountOnce) {
  const Table table;
  const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(5000, 1));
  Query query = barrier(nodes);
  query.collective = Collective::kGather;
  query.bytes = 8;
  const Spec linear{algorithms::find(Collective::kGather, "linear")};
  const OnAllRanks all = simulate_on_all_ranks(query, table, linear, 20'000);
  EXPECT_TRUE(std::any_of(all.simulated.begin(), all.simulated.end(),
                          [&](const Prediction& one) { return one.spec == linear; }));
}

TEST(OnAllRanks, SimulatesNothingOfTooManyRanks) {
  const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(kMostSimulatedRanks + 1, 1));
  const OnAllRanks all = simulate_on_all_ranks(barrier(nodes), Table(), kDissemination);
  EXPECT_TRUE(all.simulated.empty());
  EXPECT_GT(all.left_out, 4u);
}

}  // namespace
}  // namespace hocket::selection
