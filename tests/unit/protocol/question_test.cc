// SPDX-License-Identifier: BSD-3-Clause
// When engines ask for messages: by how long answers take, and once, whatever host is late.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "protocol_network.h"

namespace hocket::test {
namespace {

using engines::nic::Mode;

constexpr uint32_t kSize = 8;
constexpr uint64_t kTickNs = ProtocolNetwork::kTickNs;

struct Barrier {
  const char* name;
  uint32_t degree;
};
constexpr Barrier kBarriers[] = {
    {"dissemination", 0}, {"pairwise_exchange", 0}, {"gather_broadcast", 2}, {"linear", 0}};

std::vector<nic_program> held_of(const Barrier& barrier, Mode mode = Mode::kCollective) {
  return programs_of(barrier.name, kSize, mode, barrier.degree);
}

uint64_t messages_of(const std::vector<nic_program>& programs) {
  uint64_t messages = 0;
  for (const nic_program& program : programs) messages += program.sends;
  return messages;
}

// All but `late` begin now; gives after how many ticks all had completed.
uint64_t run_one(ProtocolNetwork& network, uint32_t late = kSize, uint64_t late_ticks = 0) {
  const uint64_t epoch = network.started(0 == late ? 1 : 0) + 1;
  for (uint32_t member = 0; member < kSize; ++member)
    if (member != late) {
      EXPECT_EQ(network.start(member), NIC_TAKEN);
    }
  const auto is_done = [&] {
    for (uint32_t member = 0; member < kSize; ++member)
      if (network.completed(member) < epoch) return false;
    return true;
  };
  uint64_t ticks = 0;
  for (; !is_done() && ticks < 100'000; ++ticks) {
    if (ticks == late_ticks && late < kSize) {
      EXPECT_EQ(network.start(late), NIC_TAKEN);
    }
    network.settle_and_tick();
  }
  EXPECT_TRUE(is_done());
  return ticks;
}

// Until nothing is under way and nobody asks any more.
void calm_down(ProtocolNetwork& network) {
  for (int tick = 0; tick < 1000; ++tick) network.settle_and_tick();
}

class NicQuestions : public testing::TestWithParam<Barrier> {};

TEST_P(NicQuestions, AreNotAskedOnAWireThatIsSlowOnly) {
  for (const uint64_t delay : {0, 1, 5, 50}) {
    SCOPED_TRACE("delay " + std::to_string(delay) + " ms");
    const std::vector<nic_program> programs = held_of(GetParam());
    ProtocolNetwork network(programs, {.delay_ns = delay * kTickNs}, 1);
    network.allow_silence(10'000 * kTickNs);
    run_one(network);
    calm_down(network);
    const uint64_t learning = network.sent() - messages_of(programs);
    // One probe after the other and its answer, of each member, until one is answered.
    EXPECT_LE(learning, 2 * 16 * kSize);
    for (int i = 0; i < 20; ++i) run_one(network);
    EXPECT_EQ(network.sent(NIC_MESSAGE), 21 * messages_of(programs));
    EXPECT_EQ(network.sent(NIC_NACK), 0u);
    // What has been learned counts for a second.
    EXPECT_LE(network.sent() - 21 * messages_of(programs), learning + 2 * kSize * (1 + 20 * 8 * delay / 1000));
  }
}

TEST_P(NicQuestions, AreAskedOnceOfAHostThatIsLate) {
  for (const uint64_t late_ticks : {10, 100, 1000}) {
    SCOPED_TRACE("late by " + std::to_string(late_ticks) + " ms");
    const std::vector<nic_program> programs = held_of(GetParam());
    ProtocolNetwork network(programs, {}, 1);
    network.lose({});
    run_one(network, 3, 20);  // how long answers take is known from now on
    calm_down(network);
    const uint64_t before = network.sent();
    run_one(network, 3, late_ticks);
    calm_down(network);
    const uint64_t messages = messages_of(programs);
    // And in a quarter of the time after which a member is silent, whether that one lives.
    EXPECT_LE(network.sent() - before, messages + 3 * messages + 4 * kSize + 4 * messages * (late_ticks / 50));
    EXPECT_GT(network.sent(NIC_NACK), 0u);
    if (late_ticks < 50) {
      EXPECT_EQ(network.sent(NIC_NACK), network.sent(NIC_OWED));
    }
    EXPECT_EQ(network.sent(NIC_NACK), network.sent(NIC_LATER));
    EXPECT_EQ(network.sent(NIC_OWED), network.sent(NIC_ACK));
    EXPECT_FALSE(network.has_repeated());
  }
}

// One message of each that there is, in turn.
TEST_P(NicQuestions, MendALossWithinTwoRoundTrips) {
  for (const uint64_t delay : {2, 10}) {
    const std::vector<nic_program> programs = held_of(GetParam());
    ProtocolNetwork network(programs, {.delay_ns = delay * kTickNs}, 1);
    run_one(network);
    calm_down(network);
    const uint64_t usual = run_one(network);
    for (uint32_t member = 0; member < kSize; ++member) {
      for (uint8_t send = 0; send < programs[member].sends; ++send) {
        calm_down(network);
        bool is_lost = false;
        network.lose([&](const nic_message& message) {
          const bool is_it = message.kind == NIC_MESSAGE && message.source == member && message.send == send;
          return is_it && !std::exchange(is_lost, true);
        });
        const uint64_t took = run_one(network);
        EXPECT_TRUE(is_lost);
        // Ticks are coarse: what is due in between is seen at the next.
        EXPECT_LE(took, usual + 2 * 2 * delay + 4) << "member " << member << ", send " << unsigned{send};
        network.lose({});  // `is_lost` goes
      }
    }
  }
}

TEST_P(NicQuestions, WhatIsOwedIsRepeatedUntilItHasCome) {
  constexpr uint64_t kDelay = 4;
  const std::vector<nic_program> programs = held_of(GetParam());
  ProtocolNetwork network(programs, {.delay_ns = kDelay * kTickNs}, 1);
  run_one(network, 3, 50);
  calm_down(network);
  const uint64_t usual = run_one(network, 3, 200);
  for (const int times : {1, 3}) {
    calm_down(network);
    int lost = 0;
    network.lose([&](const nic_message& message) { return message.kind == NIC_OWED && lost++ < times; });
    const uint64_t took = run_one(network, 3, 200);
    EXPECT_GE(lost, times);
    const uint64_t turns = static_cast<uint64_t>(times);
    EXPECT_LE(took, usual + turns * (2 * kDelay + kDelay) + 4 * static_cast<uint64_t>(times));
    network.lose({});  // `lost` goes
  }
}

// Longer than a member may be silent, and with losses.
TEST_P(NicQuestions, AHostMayBeLateByAnyTime) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ProtocolNetwork network(held_of(GetParam()), {.loss = 0.2}, seed);
    run_one(network, 3, 20);
    calm_down(network);
    run_one(network, 3, 3000);
    for (uint32_t member = 0; member < kSize; ++member) EXPECT_EQ(network.state(member).broken, 0u);
  }
}

// Its sender gives up in the end; but who waits asks.
TEST_P(NicQuestions, WhatIsOwedComesHoweverLongItWasLost) {
  ProtocolNetwork network(held_of(GetParam()), {}, 1);
  run_one(network, 3, 20);
  calm_down(network);
  const uint64_t begin_ns = network.now_ns();
  network.lose([&](const nic_message& message) {
    return message.kind == NIC_OWED && network.now_ns() < begin_ns + 1000 * kTickNs;
  });
  run_one(network, 3, 100);
  for (uint32_t member = 0; member < kSize; ++member) EXPECT_EQ(network.state(member).broken, 0u);
}

TEST_P(NicQuestions, ALossOnAWireThatIsSaidToLoseNothingBreaksTheGroup) {
  const std::vector<nic_program> programs = held_of(GetParam(), Mode::kChain);
  ProtocolNetwork network(programs, {}, 1);
  run_one(network, 3, 20);
  calm_down(network);
  network.lose([](const nic_message& message) { return message.kind == NIC_MESSAGE && message.source == 5; });
  for (uint32_t member = 0; member < kSize; ++member) EXPECT_EQ(network.start(member), NIC_TAKEN);
  for (int tick = 0; tick < 100; ++tick) network.settle_and_tick();
  std::set<uint64_t> reasons;
  for (uint32_t member = 0; member < kSize; ++member)
    if (network.completed(member) < 2) reasons.insert(network.state(member).broken);
  EXPECT_EQ(reasons, std::set<uint64_t>{NIC_CAUSE_LOST | uint64_t{5} << 8});
}

INSTANTIATE_TEST_SUITE_P(Barriers, NicQuestions, testing::ValuesIn(kBarriers),
                         [](const auto& tried) { return std::string(tried.param.name); });

// A round trip changes: what was learned of it before doesn't count for long.
TEST(NicRoundTrip, IsLearnedAnew) {
  nic_watch watch{};
  watch.backoff = {.ask_ns = 1000, .most_ns = 64'000, .silence_ns = 1'000'000};
  nic_learn(&watch, 10'000, 1);
  EXPECT_EQ(watch.round_trip.smooth_ns, 10'000u);
  for (int i = 0; i < 100; ++i) nic_learn(&watch, i % 2 == 0 ? 9'000 : 11'000, 2);
  EXPECT_NEAR(static_cast<double>(watch.round_trip.smooth_ns), 10'000, 500);
  EXPECT_NEAR(static_cast<double>(watch.round_trip.spread_ns), 1'000, 300);
  nic_learn(&watch, 100'000, 3);
  EXPECT_EQ(watch.round_trip.smooth_ns, 100'000u);
  nic_learn(&watch, 1'000, 4);
  EXPECT_EQ(watch.round_trip.smooth_ns, 1'000u);
}

}  // namespace
}  // namespace hocket::test
