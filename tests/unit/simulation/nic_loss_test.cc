// SPDX-License-Identifier: BSD-3-Clause
// NIC engines in simulated time whose packets get lost, and whose hosts are late.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/algorithm.h"
#include "nic_network.h"
#include "protocol/protocol_network.h"
#include "simulation/core/random.h"

namespace hocket::test {
namespace {

using engines::nic::Mode;
using simulation::NicCounts;
using simulation::NicPrices;
using simulation::NicSent;

const NicPrices kPrices = {.start_us = 1, .arrival_us = 0.5, .send_us = 0.25, .record_us = 0.1, .notify_us = 1};
constexpr double kLatencyUs = 5;

// Hosts begin at random, up to so much later than the first.
void ring_skewed(NicNetwork& network, uint64_t rounds, double skew_us, uint64_t seed) {
  for (uint32_t member = 0; member < network.size(); ++member) {
    double us = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
      us += skew_us * simulation::random_fraction(seed, simulation::Purpose::kSkew, member, round);
      network.ring_at(member, us);
    }
  }
}

void expect_barriers(NicNetwork& network, uint64_t rounds) {
  EXPECT_TRUE(network.was_always_a_barrier());
  for (uint32_t member = 0; member < network.size(); ++member) {
    EXPECT_EQ(network.engines().broken(member), 0u) << "member " << member;
    EXPECT_EQ(network.engines().completed(member), rounds) << "member " << member;
    EXPECT_GE(network.completed_us(member, rounds), 0) << "member " << member;
  }
}

std::vector<std::string> lines_of(const std::vector<NicSent>& history) {
  std::vector<std::string> lines;
  for (const NicSent& sent : history) {
    std::string line;
    for (const uint64_t number :
         {sent.ready, sent.arrival, uint64_t{sent.receiver}, uint64_t{sent.message.kind}, uint64_t{sent.message.source},
          uint64_t{sent.message.target}, uint64_t{sent.message.epoch}, uint64_t{sent.message.bit},
          uint64_t{sent.message.send}})
      line += std::to_string(number) + " ";
    lines.push_back(line);
  }
  return lines;
}

std::vector<nic_program> voting_programs(uint32_t size, const char* fall_back = "gather_broadcast") {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, fall_back);
  std::vector<nic_program> programs;
  for (uint32_t member = 0; member < size; ++member)
    programs.push_back(engines::nic::broadcast_table(member, size, [&](uint32_t rank) {
                         return algorithms::make_plan(*algorithm, {.size = size, .rank = rank, .degree = 8});
                       }).take());
  return programs;
}

class NicUnderLoss : public testing::TestWithParam<std::tuple<const char*, Mode>> {};
INSTANTIATE_TEST_SUITE_P(Barriers, NicUnderLoss,
                         testing::Combine(testing::Values("dissemination", "pairwise_exchange", "linear"),
                                          testing::Values(Mode::kCollective, Mode::kDirect)));

TEST_P(NicUnderLoss, ABarrierIsABarrier) {
  const auto [name, mode] = GetParam();
  constexpr uint64_t kRounds = 60;
  for (const uint32_t size : {2u, 5u, 16u}) {
    for (const double skew_us : {0.0, 30.0, 3000.0}) {
      const uint64_t seed = 100 * size + static_cast<uint64_t>(skew_us);
      SCOPED_TRACE("seed " + std::to_string(seed));
      NicNetwork network({.latency_us = kLatencyUs, .loss = 0.2, .seed = seed}, kPrices,
                         {barrier_programs(name, size, mode)});
      ring_skewed(network, kRounds, skew_us, seed);
      network.run();
      expect_barriers(network, kRounds);
      EXPECT_GT(network.engines().counts().lost, 0u);
      EXPECT_GT(network.engines().counts().repeated, 0u);
    }
  }
}

TEST(NicHistory, IsTheSameOfTheSameSeed) {
  const auto run = [](uint64_t seed) {
    NicNetwork network({.latency_us = kLatencyUs, .gap_us = 0.3, .loss = 0.1, .seed = seed}, kPrices,
                       {barrier_programs("dissemination", 13)}, {.keeps_history = true});
    ring_skewed(network, 30, 2000, 7);
    network.run();
    expect_barriers(network, 30);
    return lines_of(network.engines().history());
  };
  const std::vector<std::string> first = run(1);
  EXPECT_GT(first.size(), 30u * 13 * 4);
  EXPECT_EQ(first, run(1));
  EXPECT_NE(first, run(2));
}

// The first of two barriers tells how long answers take, if one is late enough.
TEST(NicLoss, IsAskedForOnceAndRepeatedOnce) {
  constexpr uint32_t kSize = 8;
  for (uint32_t source = 0; source < kSize; ++source) {
    for (uint8_t send = 0; send < 3; ++send) {
      NicNetwork network({.latency_us = kLatencyUs}, kPrices, {barrier_programs("dissemination", kSize)});
      int lost = 0;
      network.lose([&](const nic_message& packet) {
        return packet.kind == NIC_MESSAGE && packet.source == source && packet.send == send && lost++ == 0;
      });
      network.ring_all();
      network.run();
      expect_barriers(network, 1);
      const NicCounts& counts = network.engines().counts();
      EXPECT_EQ(counts.lost, 1u);
      EXPECT_EQ(counts.repeated, 1u) << "member " << source << ", send " << unsigned{send};
      // Others wait because of it, whose messages are promised when they are asked for.
      EXPECT_EQ(counts.sent[NIC_NACK], 1 + counts.sent[NIC_LATER]);
      EXPECT_EQ(counts.sent[NIC_OWED], counts.sent[NIC_ACK]);
      EXPECT_EQ(counts.sent[NIC_MESSAGE] + counts.sent[NIC_OWED], kSize * 3 + 1);
      EXPECT_EQ(counts.sent[NIC_PROBE], counts.sent[NIC_ALIVE]);
      // One probe by which the round trip is learned, then the question: each waits for ask_us.
      EXPECT_GT(network.last_completed_us(), 2000);
      EXPECT_LT(network.last_completed_us(), 2200);
    }
  }
}

TEST(NicLateHosts, AreAskedNothingBeforeItIsTime) {
  NicNetwork network({.latency_us = kLatencyUs}, kPrices, {barrier_programs("dissemination", 16)}, {.ask_us = 500});
  for (int round = 0; round < 20; ++round)
    for (uint32_t member = 0; member < 16; ++member)
      network.ring_at(member, 1000.0 * round + (member == 3 ? 500 - kLatencyUs * 5 : 0));
  network.run();
  expect_barriers(network, 20);
  const NicCounts& counts = network.engines().counts();
  EXPECT_EQ(counts.sent[NIC_MESSAGE], 20u * 16 * 4);
  for (const nic_kind kind : {NIC_NACK, NIC_PROBE, NIC_LATER, NIC_OWED}) EXPECT_EQ(counts.sent[kind], 0u) << kind;
}

// The same as on the network of the protocol's own tests: each message that somebody waits for is asked for once,
// promised, sent as one that is owed, and acknowledged.
TEST(NicLateHosts, AreAskedOnceForEachMessageThatIsWaitedFor) {
  constexpr uint32_t kSize = 8;
  for (const char* name : {"dissemination", "pairwise_exchange", "linear"}) {
    SCOPED_TRACE(name);
    const std::vector<nic_program> programs = barrier_programs(name, kSize);
    NicNetwork network({.latency_us = kLatencyUs}, kPrices, {programs});
    ProtocolNetwork protocol(programs, {}, 1);
    for (uint32_t member = 0; member < kSize; ++member) {
      network.ring_at(member, member == 3 ? 20'000 : 0);
      if (member != 3) {
        EXPECT_EQ(protocol.start(member), NIC_TAKEN);
      }
    }
    for (int tick = 0; tick < 20; ++tick) protocol.settle_and_tick();
    EXPECT_EQ(protocol.start(3), NIC_TAKEN);
    for (int tick = 0; tick < 20; ++tick) protocol.settle_and_tick();
    network.run();
    expect_barriers(network, 1);
    const NicCounts& counts = network.engines().counts();
    EXPECT_GT(counts.sent[NIC_NACK], 0u);
    EXPECT_EQ(counts.repeated, 0u);
    for (const nic_kind kind : {NIC_MESSAGE, NIC_NACK, NIC_LATER, NIC_OWED, NIC_ACK})
      EXPECT_EQ(counts.sent[kind], protocol.sent(kind)) << "kind " << kind;
  }
}

// Engines answer for their hosts: longer than a member may be silent, and with losses.
TEST(NicLateHosts, MayBeLateByAnyTime) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    NicNetwork network({.latency_us = kLatencyUs, .loss = 0.2, .seed = seed}, kPrices,
                       {barrier_programs("dissemination", 8)}, {.silence_us = 200'000});
    for (uint32_t member = 0; member < 8; ++member) network.ring_at(member, member == 3 ? 3'000'000 : 0);
    network.run();
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_barriers(network, 1);
    EXPECT_LT(network.last_completed_us(), 3'200'000);
  }
}

TEST(NicLoss, OfAllThatOneSendsMakesItTheOneThatIsGone) {
  NicNetwork network({.latency_us = kLatencyUs}, kPrices, {barrier_programs("dissemination", 8)},
                     {.silence_us = 100'000});
  network.lose([](const nic_message& packet) { return packet.source == 5 || packet.target == 5; });
  for (uint32_t member = 0; member < 8; ++member)
    if (member != 5) network.ring_at(member, 0);
  network.run();
  for (uint32_t member = 0; member < 8; ++member) {
    if (member == 5) continue;
    EXPECT_EQ(network.engines().broken(member), NIC_CAUSE_SILENT | uint64_t{5} << 8) << "member " << member;
    EXPECT_EQ(network.engines().ring(member, {}), NIC_BROKEN);
  }
}

TEST(NicChain, AsksForNothingAndBreaksWhereSomethingIsLost) {
  const std::vector<nic_program> programs = barrier_programs("dissemination", 8, Mode::kChain);
  NicNetwork whole({.latency_us = kLatencyUs}, kPrices, {programs});
  ring_skewed(whole, 50, 30, 3);
  whole.run();
  expect_barriers(whole, 50);
  EXPECT_EQ(whole.engines().counts().repeated, 0u);
  NicNetwork broken({.latency_us = kLatencyUs}, kPrices, {programs}, {.silence_us = 50'000});
  broken.lose([](const nic_message& packet) { return packet.kind == NIC_MESSAGE && packet.source == 5; });
  broken.ring_all();
  broken.run();
  std::set<uint64_t> reasons;
  for (uint32_t member = 0; member < 8; ++member)
    if (broken.engines().completed(member) == 0) reasons.insert(broken.engines().broken(member));
  EXPECT_EQ(reasons, std::set<uint64_t>{NIC_CAUSE_LOST | uint64_t{5} << 8});
  EXPECT_EQ(broken.engines().counts().repeated, 0u);
}

TEST(NicVotes, TakeTwoBroadcastsAndAnAnswerEach) {
  for (const uint32_t size : {2u, 8u, 36u}) {
    NicNetwork network({.latency_us = kLatencyUs}, kPrices, {voting_programs(size)});
    for (uint32_t member = 0; member < size; ++member) network.ring_at(member, member == 0 ? 3 : 0);
    network.run();
    expect_barriers(network, 1);
    const NicCounts& counts = network.engines().counts();
    EXPECT_EQ(counts.to_all, 2u);
    EXPECT_EQ(counts.sent[NIC_MESSAGE], size + 1);
    EXPECT_EQ(counts.sent[NIC_VETO], 0u);
    // Question, answer, and the outcome; the answers are dealt with one after the other.
    const double expected_us = 3 + 1 + 3 * (0.25 + kLatencyUs) + 2 * 0.5 + (size - 1) * 0.5 + 1;
    EXPECT_NEAR(network.last_completed_us(), expected_us, 1e-5);
  }
}

TEST(NicVotes, FallBackWhereOneIsLate) {
  for (const uint32_t size : {2u, 8u, 36u}) {
    NicNetwork network({.latency_us = kLatencyUs}, kPrices, {voting_programs(size)});
    for (uint32_t member = 0; member < size; ++member) network.ring_at(member, member == size - 1 ? 500 : 0);
    network.run();
    expect_barriers(network, 1);
    const NicCounts& counts = network.engines().counts();
    EXPECT_EQ(counts.to_all, 2u);
    EXPECT_GT(counts.sent[NIC_VETO], 0u);
    EXPECT_EQ(counts.sent[NIC_MESSAGE] + counts.sent[NIC_VETO], size + 1 + 2 * (size - 1));
  }
}

TEST(NicVotes, AreBarriersUnderLossToo) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NicNetwork network({.latency_us = kLatencyUs, .loss = 0.2, .seed = seed}, kPrices,
                       {voting_programs(13, seed % 2 == 0 ? "dissemination" : "gather_broadcast")});
    ring_skewed(network, 60, 100, seed);
    network.run();
    expect_barriers(network, 60);
  }
}

}  // namespace
}  // namespace hocket::test
