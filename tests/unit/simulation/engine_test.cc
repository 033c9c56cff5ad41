// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/engine.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "algorithms/algorithm.h"
#include "schedule/builder.h"
#include "simulation/engine/job.h"

namespace hocket::simulation {
namespace {

using schedule::Collective;

// Of one rank a node.
Job job_of(Collective collective, const char* name, const schedule::Nodes& nodes, uint64_t count = 1,
           uint32_t root = 0) {
  const algorithms::Algorithm* algorithm = algorithms::find(collective, name);
  JobWriter writer(nodes.ranks(), &nodes, count, 8, false);
  schedule::Shape shape{.size = nodes.ranks(), .root = root, .nodes = &nodes};
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) writer.add(algorithms::make_plan(*algorithm, shape));
  return writer.finish();
}

schedule::Nodes single(uint32_t ranks) { return schedule::Nodes::in_blocks(std::vector<uint32_t>(ranks, 1)); }

Network plain() {
  Network network;
  network.costs.alpha_us = network.costs.beta_us_per_kib = network.costs.gamma_us_per_kib = 0;
  network.costs.wire_alpha_us = 5;
  network.costs.wire_overhead_us = 1;
  network.costs.wire_gap_us = 0.5;
  network.costs.wire_beta_us_per_kib = 0;
  return network;
}

TEST(SimulationEngine, ABarrierByDisseminationTakesAsManyMessagesAsItsRounds) {
  for (const uint32_t ranks : {2u, 3u, 8u, 13u, 64u, 1000u}) {
    const schedule::Nodes nodes = single(ranks);
    const Network network = plain();
    const Outcome outcome = Engine(job_of(Collective::kBarrier, "dissemination", nodes), network, {}).run();
    const auto rounds = static_cast<uint32_t>(std::bit_width(ranks - 1));
    ASSERT_TRUE(outcome.is_finished);
    // Overhead, wire and gap, overhead.
    EXPECT_EQ(outcome.end, rounds * from_us(1 + 5 + 0.5 + 1)) << ranks;
    EXPECT_EQ(outcome.messages, uint64_t{rounds} * ranks);
  }
}

TEST(SimulationEngine, NobodyLeavesABarrierBeforeTheLastHasCome) {
  for (const char* name : {"dissemination", "pairwise_exchange", "tree_mm", "gather_broadcast"})
    for (const uint64_t seed : {1, 2, 3}) {
      if (algorithms::find(Collective::kBarrier, name) == nullptr) continue;
      const schedule::Nodes nodes = single(23);
      const Network network = plain();
      const Situation situation{.seed = seed, .skew = Distribution::parse("uniform:0..1ms").take()};
      const Job job = job_of(Collective::kBarrier, name, nodes);
      const Outcome outcome = Engine(job, network, situation).run();
      ASSERT_TRUE(outcome.is_finished) << name;
      const Time last = *std::max_element(outcome.began.begin(), outcome.began.end());
      for (const Time end : outcome.ended) EXPECT_GE(end, last) << name << " seed " << seed;
      const Outcome again = Engine(job, network, situation).run();
      EXPECT_EQ(again.ended, outcome.ended);
      EXPECT_EQ(again.events, outcome.events);
    }
}

TEST(SimulationEngine, MulticastsThatAreMissedComeDownTheRing) {
  const schedule::Nodes nodes = single(40);
  Network network = plain();
  const Job job = job_of(Collective::kBroadcast, "multicast", nodes);
  const Outcome all = Engine(job, network, {}).run();
  ASSERT_TRUE(all.is_finished);
  EXPECT_EQ(all.missed, 0u);
  network.more.multicast_loss = 0.5;
  const Outcome half = Engine(job, network, {}).run();
  ASSERT_TRUE(half.is_finished);
  EXPECT_GT(half.missed, 8u);
  EXPECT_LT(half.missed, 32u);
  EXPECT_GT(half.end, all.end);
  network.more.multicast_loss = 1;
  const Outcome none = Engine(job, network, {}).run();
  ASSERT_TRUE(none.is_finished);
  EXPECT_EQ(none.missed, 39u);
  EXPECT_GE(none.end, 39 * from_us(network.costs.wire_alpha_us)) << "one after the other";
}

TEST(SimulationEngine, LongMulticastsGoOutInFragments) {
  const schedule::Nodes nodes = single(40);
  Network network = plain();
  network.more.multicast_overhead_us = 2;
  const Job job = job_of(Collective::kBroadcast, "multicast", nodes, 1000);
  const Time whole = Engine(job, network, {}).run().end;
  network.more.multicast_bytes = 1000;
  // Seven more, for the sender's processor, the interface and the receivers' processors.
  EXPECT_EQ(Engine(job, network, {}).run().end, whole + 7 * from_us(2 + 0.5 + 2));
  // Who has missed it takes messages, which are not cut: the root's fragments are all that is longer.
  network.more.multicast_loss = 1;
  const Time fragments_all_missed = Engine(job, network, {}).run().end;
  network.more.multicast_bytes = 0;
  EXPECT_EQ(fragments_all_missed, Engine(job, network, {}).run().end + 7 * from_us(2));
  network.more.multicast_bytes = 1000;
  network.more.multicast_loss = 0.2;
  const uint64_t missed = Engine(job, network, {}).run().missed;
  EXPECT_GT(missed, 25u) << "five of six miss one of eight";
  network.more.multicast_bytes = 0;
  EXPECT_LT(Engine(job, network, {}).run().missed, missed);
}

TEST(SimulationEngine, LostMessagesAreRepeated) {
  const schedule::Nodes nodes = single(16);
  Network network = plain();
  network.more.loss = 0.2;
  network.more.repeat_us = 500;
  const Outcome outcome = Engine(job_of(Collective::kBarrier, "dissemination", nodes), network, {}).run();
  ASSERT_TRUE(outcome.is_finished);
  EXPECT_GT(outcome.repeated, 0u);
  EXPECT_GE(outcome.end, from_us(500));
}

TEST(SimulationEngine, LinksUpwardsHoldUpWhatGoesThroughTheTop) {
  const schedule::Nodes nodes = single(32);
  Network network = plain();
  network.costs.wire_beta_us_per_kib = 1;
  const Job job = job_of(Collective::kAlltoall, "pairwise", nodes, 512);
  const Time full = Engine(job, network, {}).run().end;
  network.more.leaf_nodes = 8;
  network.more.leaf_links = 8;
  const Time tree = Engine(job, network, {}).run().end;
  network.more.leaf_links = 2;
  const Time narrow = Engine(job, network, {}).run().end;
  EXPECT_GE(tree, full);
  // What the eight nodes of a leaf have for the 24 others, by two links.
  EXPECT_GE(narrow, 8 * 24 / 2 * from_us(4 + 0.5));
  EXPECT_LT(tree, 8 * 24 / 2 * from_us(4 + 0.5));
}

struct Seen : Observer {
  void did(const StepTimes& times) override { steps.push_back(times); }
  void carried(const MessageTimes& times) override { messages.push_back(times); }
  std::vector<StepTimes> steps;
  std::vector<MessageTimes> messages;
};

TEST(SimulationEngine, TellsWhoLooksOnAllThatHappensInTheSchedulesOrder) {
  const schedule::Nodes nodes = single(9);
  const Network network = plain();
  const Job job = job_of(Collective::kAllreduce, "recursive_doubling", nodes, 100);
  Engine engine(job, network, {.seed = 4, .skew = Distribution::parse("exponential:20us").take()});
  Seen seen;
  engine.observe(&seen);
  const Outcome outcome = engine.run();
  ASSERT_TRUE(outcome.is_finished);
  EXPECT_EQ(seen.steps.size(), job.steps.size());
  EXPECT_EQ(seen.messages.size(), outcome.messages);
  std::vector<Time> there(job.steps.size(), kNever);
  for (const MessageTimes& message : seen.messages) {
    EXPECT_LT(message.left, message.there);
    there[message.step] = message.there;
  }
  std::vector<Time> last(job.ranks());
  for (const StepTimes& times : seen.steps) {
    const Step& step = job.steps[times.step];
    EXPECT_GE(times.begin, last[step.rank]) << "a rank does one thing after the other";
    last[step.rank] = times.end;
    if (step.work == Work::kTake) {
      EXPECT_GE(times.begin, there[step.partner]) << "nothing is taken before it is there";
    }
  }
}

// Answers after a time, as soon as all have rung.
struct Answering : TriggeredEngine {
  void ring(uint32_t, uint32_t step, Time time) override {
    steps.push_back(step);
    last = std::max(last, time);
    if (steps.size() == ranks) engine->call_at(std::max(last, engine->now()), 7);
  }
  void happen(uint64_t ticket) override {
    EXPECT_EQ(ticket, 7u);
    EXPECT_EQ(engine->now(), last);
    for (const uint32_t step : steps) engine->complete(step, last + from_us(3));
  }
  Engine* engine = nullptr;
  size_t ranks = 0;
  std::vector<uint32_t> steps;
  Time last = 0;
};

TEST(SimulationEngine, GivesTriggeredStepsToTheirEngine) {
  const schedule::Nodes nodes = single(5);
  JobWriter writer(5, &nodes, 1, 8, false);
  for (uint32_t rank = 0; rank < 5; ++rank) {
    schedule::Builder builder(Collective::kBarrier, {.size = 5, .rank = rank, .nodes = &nodes});
    builder.trigger({}, {});
    writer.add(builder.finish());
  }
  const Job job = writer.finish();
  Network network = plain();
  network.more.nic_doorbell_us = 2;
  network.more.nic_look_us = 0.25;
  Engine engine(job, network, {});
  Answering answering;
  answering.engine = &engine;
  answering.ranks = 5;
  engine.use(&answering);
  const Outcome outcome = engine.run();
  ASSERT_TRUE(outcome.is_finished);
  EXPECT_EQ(outcome.end, from_us(2 + 3 + 0.25));
}

}  // namespace
}  // namespace hocket::simulation
