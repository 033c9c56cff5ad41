// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share cores, and engines in the kernel that work on the cores of those who ring: times reckoned by hand.
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/algorithm.h"
#include "engines/nic/stage_table.h"
#include "schedule/builder.h"
#include "simulation/engine/engine.h"
#include "simulation/engine/job.h"
#include "simulation/nic/job_engines.h"

namespace hocket::simulation {
namespace {

using schedule::Collective;

constexpr double kSend_us = 1, kTake_us = 3, kSwitch_us = 10, kLook_us = 0.25;
constexpr double kRing_us = 2, kStart_us = 0.5, kPacket_us = 0.75, kArrival_us = 1.25;
constexpr double kChain_us = kStart_us + kPacket_us + kArrival_us;  // what follows from a doorbell with one packet

// Nodes of one rank each that are parts of one machine.
Network machine(uint32_t cores, bool binds) {
  Network network;
  network.costs.alpha_us = 0;
  network.costs.beta_us_per_kib = 0;
  network.costs.cores = cores;
  network.costs.one_machine = 1;
  network.costs.switch_us = kSwitch_us;
  network.costs.wire_alpha_us = network.costs.wire_gap_us = network.costs.wire_beta_us_per_kib = 0;
  network.costs.wire_overhead_us = kSend_us;
  network.more.wire_receive_more_us = kTake_us - kSend_us;
  network.more.ranks_are_bound = binds ? 1 : 0;
  network.more.nic_on_ringing_core = 1;
  network.more.nic_doorbell_us = kRing_us;
  network.more.nic_start_us = kStart_us;
  network.more.nic_send_us = kPacket_us;
  network.more.nic_arrival_us = kArrival_us;
  network.more.nic_alpha_us = network.more.nic_notify_us = network.more.nic_look_us = 0;
  return network;
}

// Rank 0 sends a message to each of these; others have nothing to do.
Job messages_to(const std::vector<uint32_t>& receivers, uint32_t ranks, const schedule::Nodes& nodes) {
  JobWriter writer(ranks, &nodes, 1, 8, false);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    schedule::Builder builder(Collective::kBarrier, {.size = ranks, .rank = rank});
    for (const uint32_t receiver : receivers) {
      if (rank == 0) builder.send(receiver, {});
      if (rank == receiver) builder.receive(0, {});
    }
    writer.add(builder.finish());
  }
  return writer.finish();
}

schedule::Nodes one_each(uint32_t ranks) { return schedule::Nodes::in_blocks(std::vector<uint32_t>(ranks, 1)); }

// Whoever stands first in the row.
std::vector<Time> ends(const Job& job, const Network& network, uint32_t rank, Situation situation = {}) {
  std::vector<Time> found;
  situation.shares_cores = true;
  for (situation.order = 0; situation.order < 20; ++situation.order) {
    const Outcome outcome = Engine(job, network, situation).run();
    EXPECT_TRUE(outcome.is_finished);
    found.push_back(outcome.ended[rank]);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

TEST(SharedCores, OfBoundRanksAreThoseOfTheirTurns) {
  // Ranks 0 and 2 are on one core: one of them goes first, in vain if it is the receiver.
  const schedule::Nodes nodes = one_each(4);
  const Network network = machine(2, true);
  const Time soon = from_us(kSend_us + kSwitch_us + kTake_us);
  EXPECT_EQ(ends(messages_to({2}, 4, nodes), network, 2), (std::vector<Time>{soon, soon + from_us(kSwitch_us)}));
  // Rank 1 shares its core with rank 3, which has nothing to do.
  EXPECT_EQ(ends(messages_to({1}, 4, nodes), network, 1).front(), from_us(kSend_us + kTake_us));
}

TEST(SharedCores, AreLookedAtInVainForAPrice) {
  const schedule::Nodes nodes = one_each(2);
  Network network = machine(1, true);
  network.more.wire_look_us = kLook_us;
  const Time soon = from_us(kSend_us + kSwitch_us + kTake_us);
  EXPECT_EQ(ends(messages_to({1}, 2, nodes), network, 1),
            (std::vector<Time>{soon, soon + from_us(kLook_us + kSwitch_us)}));
}

TEST(SharedCores, AreColdWhereTheirCachesDoNotHoldAllRanks) {
  const schedule::Nodes nodes = one_each(3);
  Network network = machine(1, true);
  const std::vector<Time> warm = ends(messages_to({1, 2}, 3, nodes), network, 2);
  network.more.cold_us = 4;
  network.more.cached_ranks = 3;
  EXPECT_EQ(ends(messages_to({1, 2}, 3, nodes), network, 2), warm);
  network.more.cached_ranks = 2;
  Network slower = machine(1, true);
  slower.costs.switch_us += network.more.cold_us;
  EXPECT_EQ(ends(messages_to({1, 2}, 3, nodes), network, 2), ends(messages_to({1, 2}, 3, nodes), slower, 2));
}

TEST(SharedCores, AreGivenFirstToWhoHasSlept) {
  // The receiver has looked in vain, and would be looked at before who comes behind it in the row.
  const schedule::Nodes nodes = one_each(8);
  Network network = machine(1, true);
  const Situation situation{.late = {{0, from_us(1003)}}};
  EXPECT_EQ(ends(messages_to({5}, 8, nodes), network, 5, situation),
            (std::vector<Time>{from_us(1003 + kSend_us + kSwitch_us + kTake_us)}));
}

TEST(SharedCores, KeepNobodyWaitingWhoIsAlone) {
  // Both alone on their cores, which look for engines' work: who comes late begins when it comes.
  const schedule::Nodes nodes = one_each(2);
  Network network = machine(2, true);
  network.more.wire_look_us = 7;
  const Job job = messages_to({1}, 2, nodes);
  const Time soon = ends(job, network, 1, {.late = {{0, from_us(14)}}}).front() - from_us(14);
  for (const double late_us : {0.1, 6.9, 13.3})
    EXPECT_EQ(Engine(job, network, {.late = {{0, from_us(late_us)}}}).run().ended[0], from_us(late_us + kSend_us));
  EXPECT_EQ(soon, from_us(7 + kTake_us)) << "the receiver looks in vain at 14 us, and again at 21";
}

// A barrier of two members by their engines.
Outcome barrier_of_two(const Network& network) {
  const schedule::Nodes nodes = one_each(2);
  JobWriter writer(2, &nodes, 1, 8, false);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    schedule::Builder builder(Collective::kBarrier, {.size = 2, .rank = rank});
    builder.trigger({}, {});
    writer.add(builder.finish());
  }
  const Job job = writer.finish();
  const algorithms::Algorithm* algorithm = algorithms::find(Collective::kBarrier, "dissemination");
  Engine engine(job, network, {.shares_cores = network.costs.cores == 1});
  const auto programs = engines::nic::stage_tables(
      2, {}, [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = 2, .rank = rank}); });
  EXPECT_TRUE(programs.is_ok());
  const auto engines = JobEngines::make(engine, job, network, 1, {.programs = {programs.value()}, .members = {0, 1}});
  EXPECT_TRUE(engines.is_ok());
  return engine.run();
}

TEST(SharedCores, DoWhatFollowsFromTheirRanksDoorbells) {
  // Each core does its own chain, at the end of which the other's member is done.
  const Outcome apart = barrier_of_two(machine(2, true));
  ASSERT_TRUE(apart.is_finished);
  EXPECT_EQ(apart.end, from_us(kRing_us + kChain_us));
  // On one core, one behind the other: the second is done with its own chain, the first after another switch.
  const Outcome together = barrier_of_two(machine(1, true));
  ASSERT_TRUE(together.is_finished);
  EXPECT_EQ(together.end, from_us(2 * (kRing_us + kChain_us + kSwitch_us)));
  // Engines with processors of their own work while the core switches. Who rings last has looked when its is at work,
  // and looks again.
  Network offloaded = machine(1, true);
  offloaded.more.nic_on_ringing_core = 0;
  const Outcome meanwhile = barrier_of_two(offloaded);
  ASSERT_TRUE(meanwhile.is_finished);
  EXPECT_EQ(meanwhile.end, from_us(2 * kRing_us + 3 * kSwitch_us));
}

}  // namespace
}  // namespace hocket::simulation
