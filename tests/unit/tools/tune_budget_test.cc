// SPDX-License-Identifier: BSD-3-Clause
// How long a machine is measured unasked, and how well each cell then is.
#include <gtest/gtest.h>
#include <pthread.h>

#include "bench/oversubscription.h"
#include "platform/machine/topology.h"
#include "tools/thread_ranks.h"
#include "tune/measure.h"

namespace hocket::command {
namespace {

TuneOptions usual_on(uint32_t cores) {
  TuneOptions options;
  options.cores = cores;
  options.ranks = usual_ranks(cores);
  for (int i = 0; i < schedule::kCollectives; ++i) options.collectives.push_back(static_cast<schedule::Collective>(i));
  return options;
}

double weight_on(uint32_t cores) {
  const TuneOptions options = usual_on(cores);
  double weight = 0;
  for (const uint32_t ranks : options.ranks) weight += weight_of(options, ranks);
  return weight;
}

TEST(UsualRanks, GoBeyondTheCores) {
  EXPECT_EQ(usual_ranks(1), (std::vector<uint32_t>{2, 4, 8, 16}));
  EXPECT_EQ(usual_ranks(2), (std::vector<uint32_t>{2, 4, 8, 16}));
  EXPECT_EQ(usual_ranks(6), (std::vector<uint32_t>{2, 4, 6, 8, 16}));
  EXPECT_EQ(usual_ranks(16), (std::vector<uint32_t>{2, 4, 8, 16, 32}));
  EXPECT_EQ(usual_ranks(24), (std::vector<uint32_t>{2, 4, 8, 16, 24, 32}));
}

TEST(UsualBudget, IsTenMinutesAtMost) {
  EXPECT_EQ(usual_budget_s(1), 60);
  EXPECT_EQ(usual_budget_s(2), 60);
  EXPECT_EQ(usual_budget_s(16), 480);
  EXPECT_EQ(usual_budget_s(64), 600);
}

// Of an MPI's ranks, each may be bound to one.
TEST(UsualBudget, IsOfTheCoresOfAllRanks) {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  std::vector<int> processors;
  for (int processor = 0; processor < 128 && processors.size() < 2; ++processor)
    if (CPU_ISSET(processor, &budget.allowed)) processors.push_back(processor);
  if (processors.size() < 2 || budget.usable() < 2) GTEST_SKIP() << "one core";
  uint32_t found[2] = {};
  bench::ThreadRanks(2).run([&](bench::World& world) {
    const auto rank = static_cast<size_t>(world.rank());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[rank], &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    EXPECT_EQ(platform::read_cpu_budget().usable(), 1u);
    found[rank] = bench::cores_of_ranks(world);
  });
  EXPECT_EQ(found[0], 2u);
  EXPECT_EQ(found[1], 2u);
}

TEST(UsualBudget, MeasuresACellOnSixteenCoresAsWellAsOnTwo) {
  // Cells weigh what they take, ranks that share cores more.
  EXPECT_GE(usual_budget_s(16) / weight_on(16), usual_budget_s(2) / weight_on(2));
  const TuneOptions options = usual_on(16);
  size_t cells = 0;
  for (const uint32_t ranks : options.ranks) cells += cells_of_rules(cells_for(options, ranks));
  EXPECT_GT(cells, 300u);
  EXPECT_GE(usual_budget_s(16) / static_cast<double>(cells), 0.5) << cells << " cells: seconds for each";
}

}  // namespace
}  // namespace hocket::command
