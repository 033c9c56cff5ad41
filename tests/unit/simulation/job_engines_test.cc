// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/job_engines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/triggered.h"
#include "engines/nic/stage_table.h"
#include "schedule/builder.h"
#include "simulation/engine/engine.h"

namespace hocket::simulation {
namespace {

using schedule::Collective;

constexpr uint32_t kWords = 5;
constexpr double kDoorbell_us = 2, kLooked_us = 0.25, kNotified_us = 1.5;

Network with_engines() {
  Network network;
  network.costs.wire_beta_us_per_kib = 0;
  network.more.nic_doorbell_us = kDoorbell_us;
  network.more.nic_look_us = kLooked_us;
  network.more.nic_notify_us = kNotified_us;
  network.more.nic_start_us = 1;
  network.more.nic_alpha_us = 3;
  network.more.nic_send_us = 0.25;
  network.more.nic_arrival_us = 0.5;
  network.more.nic_word_us = 0.01;
  network.more.nic_combine_us = 0.1;
  return network;
}

struct Ran {
  Outcome outcome;
  NicCounts counts;
};

// So many calls of ranks on nodes of their own, as their engines carry them out.
Ran run(Collective collective, const char* name, uint32_t size, uint32_t calls, uint32_t degree = 0) {
  const schedule::Nodes nodes = schedule::Nodes::in_blocks(std::vector<uint32_t>(size, 1));
  const algorithms::Algorithm* algorithm = algorithms::find(collective, name);
  EnginesCall call;
  for (const bool synchronizes : {false, true}) {
    if (synchronizes && !schedule::has_root(collective)) break;
    auto tables = engines::nic::stage_tables(size, {.synchronizes = synchronizes}, [&](uint32_t rank) {
      return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = degree});
    });
    EXPECT_TRUE(tables.is_ok());
    call.programs.push_back(tables.take());
    if (schedule::has_root(collective)) call.synchronizing.push_back(1);
  }
  call.call = {.operation = NIC_SUM, .type = NIC_INT64, .words = kWords};
  JobWriter writer(size, &nodes, kWords, 8, false);
  for (uint32_t rank = 0; rank < size; ++rank) {
    call.members.push_back(rank);
    schedule::Builder builder(collective, {.size = size, .rank = rank, .nodes = &nodes});
    for (uint32_t i = 0; i < calls; ++i) algorithms::triggered(collective)(builder);
    writer.add(builder.finish());
  }
  const Job job = writer.finish();
  const Network network = with_engines();
  Engine engine(job, network, {});
  auto engines = JobEngines::make(engine, job, network, 1, call);
  EXPECT_TRUE(engines.is_ok());
  Outcome outcome = engine.run();
  return {std::move(outcome), engines.value()->counts()};
}

TEST(JobEngines, CarryOutAnAllreduceInTheTimeOfItsSteps) {
  const Ran ran = run(Collective::kAllreduce, "recursive_doubling", 8, 1);
  ASSERT_TRUE(ran.outcome.is_finished);
  // As NicTime.OfAnAllreduceHasWordsAndSums, and the rank's ringing and looking.
  constexpr int kSteps = 3;
  const double combine_us = kWords * 0.1;
  double expected_us = kDoorbell_us + 1 + 0.01 * kWords + kSteps * combine_us + kNotified_us + kLooked_us;
  for (int step = 0; step < kSteps; ++step) expected_us += 0.25 + 3 + 0.5 + 2 * 0.01 * kWords + step * combine_us;
  for (const Time end : ran.outcome.ended) EXPECT_NEAR(to_us(end), expected_us, 1e-5);
}

TEST(JobEngines, LetRanksGoOnThatGetNothing) {
  const Ran ran = run(Collective::kReduce, "tree_mm", 8, 1, 2);
  ASSERT_TRUE(ran.outcome.is_finished);
  for (uint32_t rank = 1; rank < 8; ++rank) EXPECT_EQ(ran.outcome.ended[rank], from_us(kDoorbell_us + kLooked_us));
  EXPECT_GT(ran.outcome.ended[0], from_us(kDoorbell_us + 3 * (0.25 + 3 + 0.5) + kNotified_us));
  EXPECT_EQ(ran.counts.sent[NIC_MESSAGE], 7u);
}

TEST(JobEngines, HoldUpDoorbellsThatAreTooMany) {
  // Leaves ring faster than packets come anywhere, and may have NIC_IN_FLIGHT operations under way.
  constexpr uint32_t kCalls = 200;
  const Ran ran = run(Collective::kReduce, "tree_mm", 8, kCalls, 2);
  ASSERT_TRUE(ran.outcome.is_finished);
  EXPECT_GE(ran.counts.sent[NIC_MESSAGE], uint64_t{7} * kCalls);
  const Time last = *std::max_element(ran.outcome.ended.begin() + 1, ran.outcome.ended.end());
  EXPECT_GT(last, kCalls * from_us(kDoorbell_us + kLooked_us)) << "nobody was held up";
}

}  // namespace
}  // namespace hocket::simulation
