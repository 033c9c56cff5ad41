// SPDX-License-Identifier: BSD-3-Clause
// What operations of NIC engines take in simulated time, against what the prices say by hand.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "nic_network.h"

namespace hocket::test {
namespace {

using engines::nic::Mode;
using simulation::NicPrices;

constexpr double kExact = 1e-5;  // microseconds: sums of rounded picoseconds

uint32_t steps_of(uint32_t size) { return static_cast<uint32_t>(std::bit_width(size - 1)); }

std::vector<nic_program> recursive_doubling(uint32_t size) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kAllreduce, "recursive_doubling");
  return engines::nic::stage_tables(
             size, {}, [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = size, .rank = rank}); })
      .take();
}

TEST(NicTime, OfADisseminationBarrierIsThatOfItsSteps) {
  const NicPrices cases[] = {
      {.start_us = 1, .arrival_us = 0.5, .send_us = 0.25, .notify_us = 2},
      {.start_us = 0.9, .arrival_us = 1.7, .send_us = 1.1},
      {.arrival_us = 3, .record_us = 100},  // nothing is acknowledged
  };
  for (const NicPrices& prices : cases) {
    for (const uint32_t size : {2u, 3u, 8u, 13u, 64u, 100u}) {
      NicNetwork network({.latency_us = 4.5}, prices, {barrier_programs("dissemination", size)});
      network.ring_all();
      network.run();
      const double step_us = prices.send_us + 4.5 + prices.arrival_us;
      const double expected_us = prices.start_us + steps_of(size) * step_us + prices.notify_us;
      for (uint32_t member = 0; member < size; ++member)
        EXPECT_NEAR(network.completed_us(member), expected_us, kExact) << "member " << member << " of " << size;
      EXPECT_EQ(network.engines().counts().sent[NIC_MESSAGE], uint64_t{size} * steps_of(size));
    }
  }
}

// A member that is late makes all late, by what lies behind its messages.
TEST(NicTime, OfABarrierCountsFromTheLastHost) {
  const NicPrices prices = {.start_us = 1, .arrival_us = 0.5, .send_us = 0.25};
  NicNetwork network({.latency_us = 2}, prices, {barrier_programs("dissemination", 16)});
  for (uint32_t member = 0; member < 16; ++member) network.ring_at(member, member == 5 ? 70 : 0);
  network.run();
  EXPECT_NEAR(network.last_completed_us(), 70 + 1 + 4 * 2.75, kExact);
}

// The k-th message carries the sum of k operands, worked out anew.
TEST(NicTime, OfAnAllreduceHasWordsAndSums) {
  constexpr uint32_t kWords = 5;
  for (const bool is_floating : {false, true}) {
    for (const uint32_t size : {2u, 8u, 32u}) {
      const NicPrices prices = {.start_us = 1,
                                .arrival_us = 0.5,
                                .send_us = 0.25,
                                .word_us = 0.01,
                                .combine_us = 0.1,
                                .combine_floating_us = 0.3,
                                .notify_us = 1};
      NicNetwork network({.latency_us = 3}, prices, {recursive_doubling(size)});
      engines::nic::NicCall call;
      call.words = kWords;
      call.operation = NIC_SUM;
      call.type = is_floating ? NIC_DOUBLE : NIC_INT64;
      for (uint32_t member = 0; member < size; ++member) network.ring_at(member, 0, call);
      network.run();
      const double combine_us = kWords * (is_floating ? 0.3 : 0.1);
      const uint32_t steps = steps_of(size);
      double expected_us = 1 + 0.01 * kWords + steps * combine_us + 1;
      for (uint32_t step = 0; step < steps; ++step)
        expected_us += 0.25 + 3 + 0.5 + 2 * 0.01 * kWords + step * combine_us;
      EXPECT_NEAR(network.completed_us(0), expected_us, kExact) << size;
      EXPECT_NEAR(network.last_completed_us(), expected_us, kExact) << size;
      EXPECT_EQ(network.engines().combined(), uint64_t{size} * kWords * (steps * (steps - 1) / 2 + steps));
    }
  }
}

TEST(NicTime, OfAFlatTreeHasOnePacketBehindTheOther) {
  constexpr uint32_t kSize = 9;
  const NicPrices prices = {.start_us = 1, .arrival_us = 0.5, .send_us = 0.25};
  NicNetwork network({.latency_us = 3}, prices, {barrier_programs("gather_broadcast", kSize, Mode::kCollective, 8)});
  network.ring_all();
  network.run();
  // All come at once and are dealt with in turn; then all are answered in turn.
  const double expected_us = 1 + 0.25 + 3 + 8 * 0.5 + 8 * 0.25 + 3 + 0.5;
  EXPECT_NEAR(network.last_completed_us(), expected_us, kExact);
}

TEST(NicTime, HasPacketsOfTheirRealSizes) {
  NicNetwork network({.latency_us = 1}, {}, {recursive_doubling(4)});
  for (uint8_t words : {uint8_t{1}, uint8_t{7}, uint8_t{64}}) {
    engines::nic::NicCall call;
    call.words = words;
    call.operation = NIC_SUM;
    call.type = NIC_UINT64;
    for (uint32_t member = 0; member < 4; ++member) network.ring_at(member, 10 * words, call);
  }
  network.run();
  const std::map<uint32_t, uint32_t> expected = {{1, 82 + 8}, {7, 82 + 56}, {64, 82 + 512}};
  EXPECT_EQ(network.bytes_of_words(), expected);
}

TEST(NicTime, OfAcknowledgedMessagesHasTwiceThePackets) {
  const NicPrices prices = {.arrival_us = 0.5, .send_us = 0.25, .record_us = 0.125};
  NicNetwork collective({.latency_us = 3}, prices, {barrier_programs("dissemination", 32)});
  NicNetwork direct({.latency_us = 3}, prices, {barrier_programs("dissemination", 32, Mode::kDirect)});
  for (NicNetwork* network : {&collective, &direct}) {
    network->ring_all();
    network->run();
  }
  EXPECT_EQ(direct.engines().counts().sent[NIC_MESSAGE], 32u * 5);
  EXPECT_EQ(direct.engines().counts().sent[NIC_ACK], 32u * 5);
  EXPECT_EQ(collective.engines().counts().sent[NIC_ACK], 0u);
  EXPECT_EQ(direct.engines().counts().repeated, 0u);
  // Each step has the message's book-keeping; from the second on, the acknowledgement of the one before is sent first
  // and another comes in.
  EXPECT_GE(direct.last_completed_us(), collective.last_completed_us() + 5 * 0.125);
}

// What is not late costs nothing: an event for each host, each packet and each member.
TEST(NicTime, OfARunWithoutLossCostsEventsForItsPackets) {
  constexpr uint32_t kSize = 1024;
  NicNetwork network({.latency_us = 1}, {.arrival_us = 0.1}, {barrier_programs("dissemination", kSize)});
  for (int round = 0; round < 20; ++round) network.ring_all(20.0 * round);
  network.run();
  EXPECT_GT(network.last_completed_us(20), 0);
  EXPECT_EQ(network.events(), 20 * kSize + 20 * kSize * 10 + kSize);
  EXPECT_EQ(network.engines().counts().looks, kSize);
}

TEST(NicTime, OfThousandsOfMembers) {
  constexpr uint32_t kSize = 4096;
  const NicPrices prices = {.start_us = 1, .arrival_us = 0.5, .send_us = 0.25};
  NicNetwork network({.latency_us = 2}, prices, {barrier_programs("dissemination", kSize)});
  network.ring_all();
  network.run();
  EXPECT_TRUE(network.was_always_a_barrier());
  EXPECT_NEAR(network.last_completed_us(), 1 + 12 * 2.75, kExact);
  EXPECT_LT(network.engines().bytes() / kSize, 4096u);
}

TEST(NicTime, IsRefusedForPartsThatDoNotFit) {
  NicNetwork surroundings({}, {}, {barrier_programs("dissemination", 2)});
  const auto code = [&](const NicNetwork::Programs& collectives, simulation::NicOptions options = {}) {
    const auto engines = simulation::NicEngines::make(surroundings, {}, collectives, options);
    return engines.is_ok() ? Code::kOk : engines.status().code();
  };
  EXPECT_EQ(code({}), Code::kInvalidArgument);
  EXPECT_EQ(code({{}}), Code::kInvalidArgument);
  EXPECT_EQ(code({std::vector<nic_program>(2), std::vector<nic_program>(3)}), Code::kInvalidArgument);
  EXPECT_EQ(code(NicNetwork::Programs(17, std::vector<nic_program>(2))), Code::kInvalidArgument);
  EXPECT_EQ(code({std::vector<nic_program>(0xfffd)}), Code::kInvalidArgument);
  EXPECT_EQ(code({std::vector<nic_program>(2)}, {.synchronizing = {1}}), Code::kInvalidArgument);
  EXPECT_EQ(code({std::vector<nic_program>(2)}), Code::kOk);
}

}  // namespace
}  // namespace hocket::test
