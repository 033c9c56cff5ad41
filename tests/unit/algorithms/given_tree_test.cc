// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/given_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "schedule/verifier/verifier.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;

// Of any shape: each rank below one of those that are in it already.
std::vector<uint32_t> random_tree(uint32_t size, std::mt19937_64& dice) {
  std::vector<uint32_t> order(size);
  for (uint32_t i = 0; i < size; ++i) order[i] = i;
  std::shuffle(order.begin() + 1, order.end(), dice);
  std::vector<uint32_t> parents(size);
  for (uint32_t i = 1; i < size; ++i) parents[order[i]] = order[dice() % i];
  return parents;
}

TEST(GivenTree, IsGoneAlongByEveryCollective) {
  std::mt19937_64 dice(1);
  for (uint32_t size = 1; size <= 40; ++size) {
    const std::vector<uint32_t> parents = random_tree(size, dice);
    ASSERT_EQ(flaw_of_parents(parents), "");
    for (const Collective collective : {Collective::kReduce, Collective::kBroadcast, Collective::kAllreduce}) {
      std::vector<schedule::Plan> plans;
      uint64_t messages = 0;
      for (uint32_t rank = 0; rank < size; ++rank) {
        plans.push_back(plan_along(parents, collective, {.size = size, .rank = rank}));
        for (const schedule::Step& step : plans.back().steps) {
          if (step.kind != schedule::StepKind::kSend) continue;
          ++messages;
          ASSERT_TRUE(parents[rank] == step.peer || parents[step.peer] == rank) << "a message besides the tree";
        }
      }
      EXPECT_EQ(messages, (size - 1) * (collective == Collective::kAllreduce ? 2 : 1));
      const schedule::Report report = schedule::verify(plans, {.count = 3});
      ASSERT_TRUE(report.is_correct()) << size << " ranks, " << schedule::name(collective) << ": " << report.text();
    }
  }
}

TEST(GivenTree, IsRefusedWhereItIsNone) {
  using Parents = std::vector<uint32_t>;
  EXPECT_NE(flaw_of_parents(Parents{}), "");
  EXPECT_NE(flaw_of_parents(Parents{1, 0}), "");
  EXPECT_EQ(flaw_of_parents(Parents{0, 0, 1}), "");
  EXPECT_NE(flaw_of_parents(Parents{0, 0, 3}).find("rank 2 has parent 3"), std::string::npos);
  EXPECT_NE(flaw_of_parents(Parents{0, 1}).find("rank 1 has no way"), std::string::npos);
  EXPECT_NE(flaw_of_parents(Parents{0, 2, 3, 1, 0}).find("rank 1 has no way"), std::string::npos);
}

}  // namespace
}  // namespace hocket::algorithms
