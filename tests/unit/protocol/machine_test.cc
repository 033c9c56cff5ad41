// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"
#include "engines/nic/stage_table.h"
#include "protocol_network.h"

namespace hocket::test {
namespace {

using engines::nic::Mode;

std::vector<const char*> by_messages() {
  std::vector<const char*> names;
  for (const algorithms::Algorithm* algorithm : algorithms::all())
    if (algorithm->collective == schedule::Collective::kBarrier && algorithms::is_by_messages(*algorithm))
      names.push_back(algorithm->name.data());
  return names;
}

nic_verdict begin(const nic_group& group, nic_state& state) {
  nic_message doorbell{};
  doorbell.epoch = state.started + 1;
  return nic_start(&group, &state, 0, &doorbell, nullptr).verdict;
}

TEST(NicMachine, SendsWhatTheScheduleSendsAndNothingElse) {
  for (const char* name : by_messages()) {
    for (uint32_t size = 1; size <= 33; ++size) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(size));
      const std::vector<nic_program> programs = programs_of(name, size, Mode::kCollective);
      uint64_t sends = 0;
      for (const nic_program& program : programs) sends += program.sends;
      ProtocolNetwork network(programs, {}, 1);
      for (uint32_t member = 0; member < size; ++member) {
        EXPECT_EQ(network.completed(member), 0u);
        EXPECT_EQ(network.start(member), NIC_TAKEN);
        while (network.deliver()) continue;
      }
      for (uint32_t member = 0; member < size; ++member) EXPECT_EQ(network.completed(member), 1u);
      EXPECT_EQ(network.sent(NIC_MESSAGE), sends);
      EXPECT_EQ(network.sent(), sends);
    }
  }
}

TEST(NicMachine, AcknowledgedMessagesTakeTwiceThePackets) {
  ProtocolNetwork network(programs_of("dissemination", 8, Mode::kDirect), {}, 1);
  for (uint32_t member = 0; member < 8; ++member) EXPECT_EQ(network.start(member), NIC_TAKEN);
  network.settle_and_tick();
  EXPECT_EQ(network.sent(NIC_MESSAGE), 24u);
  EXPECT_EQ(network.sent(NIC_ACK), 24u);
}

class NicMachineUnderLoss : public testing::TestWithParam<std::tuple<const char*, double, Mode>> {};

TEST_P(NicMachineUnderLoss, CompletesEveryBarrierInOrder) {
  const auto [name, loss, mode] = GetParam();
  for (const uint32_t size : {2u, 3u, 8u, 13u}) {
    const uint64_t seed = 1000 * size + static_cast<uint64_t>(100 * loss);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ProtocolNetwork network(programs_of(name, size, mode), {.loss = loss, .duplicate = 0.1, .reorder = true}, seed);
    run_barriers(network, kBarriersUnderLoss, seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Wires, NicMachineUnderLoss,
                         testing::Combine(testing::ValuesIn(by_messages()), testing::Values(0.0, 0.01, 0.2),
                                          testing::Values(Mode::kCollective, Mode::kDirect)));

TEST(NicMachine, AChainNeedsAWireThatLosesNothing) {
  ProtocolNetwork network(programs_of("dissemination", 7, Mode::kChain), {.duplicate = 0.1, .reorder = true}, 5);
  run_barriers(network, 100, 5);
  EXPECT_FALSE(network.has_repeated());
}

TEST(NicMachine, RunsOverTheRoundsOfTheRecords) {
  ProtocolNetwork network(programs_of("pairwise_exchange", 3, Mode::kCollective), {.loss = 0.05, .reorder = true}, 9);
  run_barriers(network, uint64_t{3} * NIC_WINDOW * NIC_ROUNDS / 2, 9);
}

TEST(NicMachine, AsManyAreInFlightAsMayBeAndNoMore) {
  ProtocolNetwork network(programs_of("dissemination", 2, Mode::kCollective), {}, 1);
  for (int i = 0; i < NIC_IN_FLIGHT; ++i) EXPECT_EQ(network.start(0), NIC_TAKEN);
  EXPECT_EQ(network.start(0), NIC_TOO_MANY);
  EXPECT_EQ(network.start(0, 3), NIC_OUT_OF_TURN);
  EXPECT_EQ(network.start(1), NIC_TAKEN);
  while (network.deliver()) continue;
  EXPECT_EQ(network.completed(0), 1u);
  EXPECT_EQ(network.start(0), NIC_TAKEN);
}

TEST(NicMachine, NothingThatIsReplayedChangesAnything) {
  ProtocolNetwork network(programs_of("gather_broadcast", 5, Mode::kCollective), {}, 1);
  run_barriers(network, 40, 1);
  const std::vector<nic_message> history = network.history();
  nic_state before = network.state(2);
  for (const nic_message& message : history) {
    if (message.target != 2) continue;
    const nic_verdict verdict = network.inject(message).verdict;
    // A question is answered anew.
    if (message.kind == NIC_MESSAGE) {
      EXPECT_EQ(verdict, NIC_STALE);
    }
  }
  // An answer to a probe is heard again; but nobody waits for it.
  before.heard = network.state(2).heard;
  before.heard_ns = network.state(2).heard_ns;
  EXPECT_EQ(0, memcmp(&before, &network.state(2), sizeof before));
}

TEST(NicMachine, RefusesWhatIsNotExpected) {
  ProtocolNetwork network(programs_of("dissemination", 4, Mode::kCollective), {}, 1);
  const nic_message good = message_of(NIC_MESSAGE, 1, 0, 1);
  const auto verdict = [&](auto change) {
    nic_message message = good;
    change(message);
    return network.inject(message).verdict;
  };
  EXPECT_EQ(verdict([](nic_message& m) { m.source = 2; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message& m) { m.source = 4; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message& m) { m.bit = 1; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message& m) { m.bit = 200; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message& m) { m.send = 1; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message& m) { m.program = 1; }), NIC_NO_PROGRAM);
  EXPECT_EQ(verdict([](nic_message& m) { m.program = 255; }), NIC_NO_PROGRAM);
  EXPECT_EQ(verdict([](nic_message& m) { m.epoch = 0; }), NIC_STALE);
  EXPECT_EQ(verdict([](nic_message& m) { m.epoch = NIC_WINDOW + 1; }), NIC_EARLY);
  EXPECT_EQ(verdict([](nic_message& m) { m.kind = NIC_KINDS; }), NIC_UNKNOWN_KIND);
  EXPECT_EQ(verdict([](nic_message& m) { m.kind = NIC_NACK, m.send = 60; }), NIC_NOT_EXPECTED);
  EXPECT_EQ(verdict([](nic_message&) {}), NIC_TAKEN);
  EXPECT_EQ(verdict([](nic_message&) {}), NIC_DUPLICATE);
}

TEST(NicMachine, AHostThatIsLateIsWaitedForAndNoFailure) {
  ProtocolNetwork network(programs_of("dissemination", 4, Mode::kCollective), {.loss = 0.2}, 3);
  for (const uint32_t member : {0u, 1u, 3u}) EXPECT_EQ(network.start(member), NIC_TAKEN);
  for (int tick = 0; tick < 2000; ++tick) network.settle_and_tick();
  for (uint32_t member = 0; member < 4; ++member) {
    EXPECT_EQ(network.state(member).broken, 0u);
    EXPECT_EQ(network.completed(member), 0u);
  }
  EXPECT_EQ(network.start(2), NIC_TAKEN);
  for (int tick = 0; tick < 200; ++tick) network.settle_and_tick();
  for (uint32_t member = 0; member < 4; ++member) EXPECT_EQ(network.completed(member), 1u);
}

TEST(NicMachine, AMemberThatIsGoneIsNamedToAllOthers) {
  for (const Mode mode : {Mode::kCollective, Mode::kChain, Mode::kDirect}) {
    for (const char* name : by_messages()) {
      SCOPED_TRACE(name);
      const double loss = mode == Mode::kChain ? 0 : 0.1;
      ProtocolNetwork network(programs_of(name, 9, mode), {.loss = loss}, 4);
      network.kill(5);
      for (uint32_t member = 0; member < 9; ++member) {
        if (member != 5) {
          EXPECT_EQ(network.start(member), NIC_TAKEN);
        }
      }
      for (int tick = 0; tick < 1000; ++tick) network.settle_and_tick();
      for (uint32_t member = 0; member < 9; ++member) {
        if (member == 5) continue;
        EXPECT_EQ(network.state(member).broken, NIC_CAUSE_SILENT | uint64_t{5} << 8) << "member " << member;
        EXPECT_EQ(network.start(member), NIC_BROKEN);
      }
    }
  }
}

TEST(NicMachine, MembersWithDifferentCollectivesAreToldSo) {
  std::vector<nic_program> programs = programs_of("dissemination", 2, Mode::kCollective);
  nic_group group{};
  group.size = 2;
  group.programs = 2;
  group.program[0] = group.program[1] = programs[0];
  nic_state state{};
  const nic_message message = message_of(NIC_MESSAGE, 1, 1, 0, 1);
  EXPECT_EQ(nic_take(&group, &state, 0, &message, nullptr).verdict, NIC_TAKEN);
  EXPECT_EQ(begin(group, state), NIC_DISAGREEMENT);
  EXPECT_EQ(state.broken & 0xff, uint64_t{NIC_CAUSE_DISAGREES});
}

// Both have started before anything of the other's comes: neither may wait for ever.
TEST(NicMachine, MembersWhoAreInDifferentCollectivesAlreadyAreToldSo) {
  const std::vector<nic_program> programs = programs_of("dissemination", 2, Mode::kCollective);
  for (const nic_kind kind : {NIC_MESSAGE, NIC_NACK}) {
    nic_group group{};
    group.size = 2;
    group.programs = 2;
    group.program[0] = group.program[1] = programs[0];
    nic_state state{};
    EXPECT_EQ(begin(group, state), NIC_TAKEN);
    const nic_message message = message_of(kind, 1, 1, 0, 1);
    EXPECT_EQ(nic_take(&group, &state, 0, &message, nullptr).verdict, NIC_DISAGREEMENT);
    EXPECT_EQ(state.broken, NIC_CAUSE_DISAGREES | uint64_t{1} << 8);
  }
}

// A member who has its own and waits for nothing may owe others what got lost.
TEST(NicMachine, WhatIsNotAcknowledgedIsDueAlsoWhenAllIsComplete) {
  nic_group group{};
  group.size = 2;
  group.programs = 1;
  group.program[0] = programs_of("dissemination", 2, Mode::kDirect)[0];
  nic_state state{};
  nic_watched_member members[2] = {};
  nic_watch watch{};
  watch.backoff = {.ask_ns = 5, .most_ns = 100, .silence_ns = 1000};
  watch.member = members;
  EXPECT_EQ(nic_watch_wait(&group, &state, &watch, 1), ~uint64_t{0});
  EXPECT_EQ(begin(group, state), NIC_TAKEN);
  const nic_message message = message_of(NIC_MESSAGE, 1, 1, 0);
  EXPECT_EQ(nic_take(&group, &state, 0, &message, nullptr).completed, 1u);
  EXPECT_EQ(nic_watch_wait(&group, &state, &watch, 1), 5u);
  const nic_message receipt = message_of(NIC_ACK, 1, 1, 0);
  EXPECT_EQ(nic_take(&group, &state, 0, &receipt, nullptr).verdict, NIC_TAKEN);
  EXPECT_EQ(nic_watch_wait(&group, &state, &watch, 1), ~uint64_t{0});
}

// Processors that take packets of the same operations at the same time: what follows is told to one of them.
TEST(NicMachine, ProcessorsShareTheRecords) {
  constexpr uint32_t kMembers = 9;
  constexpr uint64_t kEpochs = 2000;
  const std::vector<nic_program> programs = programs_of("linear", kMembers, Mode::kCollective);
  nic_group group{};
  group.size = kMembers;
  group.programs = 1;
  group.program[0] = programs[0];
  nic_state state{};
  std::atomic<uint64_t> sends = 0;
  std::atomic<uint64_t> reported = 0;
  const auto record = [&](const nic_outcome& outcome) {
    sends += outcome.end_send - outcome.first_send;
    reported += outcome.completed;
  };
  std::vector<std::thread> processors;
  processors.reserve(4);
  for (uint32_t part = 0; part < 4; ++part) {
    processors.emplace_back([&, part] {
      for (uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
        while (reported + NIC_IN_FLIGHT < epoch) std::this_thread::yield();
        for (uint32_t bit = 0; bit < kMembers - 1; ++bit) {
          const nic_arrival& arrival = programs[0].arrival[bit];
          const nic_message message =
              message_of(NIC_MESSAGE, epoch, arrival.member, 0, 0, static_cast<uint8_t>(bit), arrival.send);
          if (bit % 4 == part || bit % 3 == 0) record(nic_take(&group, &state, 0, &message, nullptr));
        }
        const nic_message doorbell = message_of(NIC_MESSAGE, epoch, 0, 0);
        if (part == 0) record(nic_start(&group, &state, 0, &doorbell, nullptr));
      }
    });
  }
  for (std::thread& processor : processors) processor.join();
  EXPECT_EQ(state.completed, kEpochs);
  EXPECT_EQ(reported, kEpochs);
  EXPECT_EQ(sends, kEpochs * (kMembers - 1));
}

TEST(NicStageTable, HoldsBarriersOfAThousandNodes) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, "dissemination");
  const auto plan_of = [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = 1024, .rank = rank}); };
  Result<nic_program> program = engines::nic::stage_table(1000, {}, plan_of);
  ASSERT_TRUE(program.is_ok());
  EXPECT_EQ(program.value().stages, 10);
  EXPECT_EQ(program.value().arrivals, 10);
}

TEST(NicStageTable, OfAllRanksAreThoseOfEach) {
  for (const char* name : by_messages()) {
    for (const uint32_t size : {1u, 2u, 7u, 16u}) {
      const std::vector<nic_program> one_by_one = programs_of(name, size, Mode::kDirect);
      Result<std::vector<nic_program>> at_once =
          engines::nic::stage_tables(size, {Mode::kDirect}, plans_of(name, size));
      ASSERT_TRUE(at_once.is_ok());
      ASSERT_EQ(at_once.value().size(), size);
      for (uint32_t rank = 0; rank < size; ++rank)
        EXPECT_EQ(0, memcmp(&at_once.value()[rank], &one_by_one[rank], sizeof(nic_program))) << name << ", " << rank;
    }
  }
  EXPECT_FALSE(engines::nic::stage_tables(64, {}, plans_of("linear", 64)).is_ok());
}

TEST(NicStageTable, RefusesMoreArrivalsThanARecordHas) {
  const algorithms::Algorithm* algorithm = algorithms::find(schedule::Collective::kBarrier, "linear");
  const auto plan_of = [&](uint32_t rank) { return algorithms::make_plan(*algorithm, {.size = 64, .rank = rank}); };
  Result<nic_program> program = engines::nic::stage_table(0, {}, plan_of);
  ASSERT_FALSE(program.is_ok());
  EXPECT_NE(std::string(program.status().message()).find("the most are 47"), std::string::npos);
}

}  // namespace
}  // namespace hocket::test
