// SPDX-License-Identifier: BSD-3-Clause
// Barriers by broadcast, with a schedule to fall back on (engines/nic/stage_table.h).
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "protocol_network.h"

namespace hocket::test {
namespace {

constexpr uint32_t kMostRanks = 36;  // with gather-broadcast of degree 8 behind it

std::vector<nic_program> voting_programs(uint32_t size, const char* fall_back = "gather_broadcast",
                                         uint32_t degree = 8) {
  const auto plan_of = plans_of(fall_back, size, degree);
  return programs_of(size, [&](uint32_t rank) { return engines::nic::broadcast_table(rank, size, plan_of); });
}

void deliver_all(ProtocolNetwork& network) {
  while (network.deliver()) continue;
}

TEST(NicVote, WhoAreTogetherNeedTwoBroadcastsAndAnAnswerEach) {
  for (uint32_t size = 2; size <= kMostRanks; ++size) {
    SCOPED_TRACE(size);
    ProtocolNetwork network(voting_programs(size), {}, 1);
    // The one who asks comes last.
    for (uint32_t member = size; member-- > 0;) EXPECT_EQ(network.start(member), NIC_TAKEN);
    deliver_all(network);
    for (uint32_t member = 0; member < size; ++member) EXPECT_EQ(network.reported(member), 1u);
    EXPECT_EQ(network.broadcasts(), 2u);
    EXPECT_EQ(network.sent(), size + 1);
    EXPECT_EQ(network.sent(NIC_VETO), 0u);
  }
}

TEST(NicVote, OneWhoIsLateMakesAllFallBackOnTheSchedule) {
  for (uint32_t size = 2; size <= kMostRanks; ++size) {
    SCOPED_TRACE(size);
    ProtocolNetwork network(voting_programs(size), {}, 1);
    for (uint32_t member = 0; member < size - 1; ++member) {
      EXPECT_EQ(network.start(member), NIC_TAKEN);
      // All but one have started before anybody is asked.
      if (member == size - 2) deliver_all(network);
    }
    EXPECT_TRUE(network.was_always_a_barrier());
    for (uint32_t member = 0; member < size; ++member) EXPECT_EQ(network.reported(member), 0u);
    EXPECT_EQ(network.broadcasts(), 2u);
    EXPECT_EQ(network.start(size - 1), NIC_TAKEN);
    deliver_all(network);
    for (uint32_t member = 0; member < size; ++member) EXPECT_EQ(network.reported(member), 1u);
    // The vote, and a message up and one down the tree for each other member.
    EXPECT_EQ(network.sent(), size + 1 + 2 * (size - 1));
    EXPECT_EQ(network.broadcasts(), 2u);
  }
}

TEST(NicVote, TheNextBarrierVotesAnew) {
  ProtocolNetwork network(voting_programs(5), {}, 1);
  for (uint32_t member = 0; member < 5; ++member) {
    EXPECT_EQ(network.start(member), NIC_TAKEN);
    deliver_all(network);
  }
  EXPECT_GT(network.sent(NIC_VETO), 0u);
  const uint64_t before = network.sent();
  for (uint32_t member = 5; member-- > 0;) EXPECT_EQ(network.start(member), NIC_TAKEN);
  deliver_all(network);
  EXPECT_EQ(network.completed(4), 2u);
  EXPECT_EQ(network.sent() - before, 6u);
}

class NicVoteUnderLoss : public testing::TestWithParam<std::tuple<const char*, double>> {};

TEST_P(NicVoteUnderLoss, CompletesEveryBarrierInOrder) {
  const auto [fall_back, loss] = GetParam();
  for (const uint32_t size : {2u, 3u, 8u, 13u}) {
    const uint64_t seed = 3000 * size + static_cast<uint64_t>(100 * loss);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ProtocolNetwork network(voting_programs(size, fall_back, 0), {.loss = loss, .duplicate = 0.1, .reorder = true},
                            seed);
    run_barriers(network, kBarriersUnderLoss, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Wires, NicVoteUnderLoss,
                         testing::Combine(testing::Values("gather_broadcast", "dissemination", "linear"),
                                          testing::Values(0.0, 0.01, 0.2)));

TEST(NicVote, AMemberThatIsGoneIsNamedToAllOthers) {
  for (const uint32_t gone : {0u, 5u, 8u}) {
    ProtocolNetwork network(voting_programs(9), {.loss = 0.1}, 4);
    network.kill(gone);
    for (uint32_t member = 0; member < 9; ++member) {
      if (member != gone) {
        EXPECT_EQ(network.start(member), NIC_TAKEN);
      }
    }
    for (int tick = 0; tick < 1000; ++tick) network.settle_and_tick();
    for (uint32_t member = 0; member < 9; ++member) {
      if (member == gone) continue;
      EXPECT_EQ(network.state(member).broken, NIC_CAUSE_SILENT | uint64_t{gone} << 8) << "member " << member;
    }
  }
}

// Neither a veto nor a message for all is taken where nobody votes.
TEST(NicVote, OthersTakeNoneOfIt) {
  ProtocolNetwork network(programs_of("dissemination", 4, engines::nic::Mode::kCollective), {}, 1);
  const nic_message veto = message_of(NIC_VETO, 1, 0, 1);
  EXPECT_EQ(network.inject(veto).verdict, NIC_NOT_EXPECTED);
  nic_message to_all = message_of(NIC_MESSAGE, 1, 0, NIC_ALL);
  EXPECT_EQ(network.inject(to_all, 1).verdict, NIC_NOT_EXPECTED);
  // And no question goes to all.
  to_all.kind = NIC_NACK;
  EXPECT_EQ(network.inject(to_all, 1).verdict, NIC_MISDIRECTED);
  EXPECT_EQ(network.state(1).record[1], 0u);
}

TEST(NicVote, WhoAsksForAPacketForAllGetsItAlone) {
  ProtocolNetwork network(voting_programs(6), {}, 1);
  for (uint32_t member = 6; member-- > 0;) EXPECT_EQ(network.start(member), NIC_TAKEN);
  deliver_all(network);
  EXPECT_EQ(network.broadcasts(), 2u);
  for (const uint8_t number : {0, 1}) {
    const nic_message question = message_of(NIC_NACK, 1, 4, 0, 0, number, number);
    EXPECT_EQ(network.inject(question).repeats, 1);
    EXPECT_EQ(network.history().back().target, 4);
    EXPECT_EQ(network.history().back().kind, NIC_MESSAGE);
  }
  EXPECT_EQ(network.broadcasts(), 2u);
}

// On all ranks or on none.
TEST(NicVote, RefusesMoreThanOneCanHear) {
  const auto plan_of = plans_of("gather_broadcast", 48, 8);
  Result<nic_program> program = engines::nic::broadcast_table(0, 48, plan_of);
  ASSERT_FALSE(program.is_ok());
  EXPECT_NE(std::string(program.status().message()).find("the most are 46"), std::string::npos);
  // With the schedule's.
  constexpr uint32_t kTooMany = kMostRanks + 1;
  for (uint32_t rank = 0; rank < kTooMany; ++rank)
    EXPECT_FALSE(engines::nic::broadcast_table(rank, kTooMany, plans_of("gather_broadcast", kTooMany, 8)).is_ok());
}

}  // namespace
}  // namespace hocket::test
