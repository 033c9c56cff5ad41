// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/between_nodes.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "c_api/foreign_wire.h"
#include "communicator/failure/late.h"
#include "support/wire.h"

namespace hocket::communicator {
namespace {

using engines::Instruction;
using engines::StepState;
using schedule::StepKind;

constexpr uint64_t kSecondNs = 1'000'000'000;

// Two nodes of a rank each, in one thread.
class TwoNodes : public testing::Test {
 protected:
  struct One {
    std::shared_ptr<engines::wire::Wire> wire;
    std::shared_ptr<platform::SharedRegion> region;
    Participants participants;
    carriers::Engines engines;
    std::unique_ptr<Tracks> tracks;
    std::unique_ptr<NodeReports> reports;
  };

  void SetUp() override {
    using engines::shared_memory::Member;
    using engines::shared_memory::NodeGroup;
    using engines::shared_memory::RankBlock;
    const std::vector<uint64_t> labels{0, 1};
    for (uint32_t rank = 0; rank < 2; ++rank) {
      One& one = ranks_[rank];
      one.wire = c_api::foreign_wire(network_.wire_of(rank)).take();
      one.region = platform::SharedRegion::create(size_t{64} << 20).take();
      auto* block = static_cast<RankBlock*>(one.region->allocate(RankBlock::bytes(2)));
      ASSERT_NE(block, nullptr);
      one.participants.rank = rank;
      one.participants.size = 2;
      one.participants.nodes = std::make_unique<const schedule::Nodes>(labels);
      const platform::Window window{one.region->base(), one.region->limit()};
      one.participants.group = std::make_unique<NodeGroup>(
          0, std::vector<Member>{{.block = block, .window = window, .name = rank}}, one.region, false);
      one.participants.wire = {.wire = one.wire.get(),
                               .addresses = {0, 1},
                               .first_tag = 8,
                               .marks = 4,
                               .reports_tag = 4,
                               .unique_number = 7,
                               .places = {"process 1 on host a", "process 2 on host b"}};
      one.tracks = std::make_unique<Tracks>(one.participants, one.engines);
      ASSERT_TRUE(one.tracks->open(0).is_ok());
      one.reports = std::make_unique<NodeReports>(one.participants, *one.tracks, one.engines, Vocabulary::kHocket);
    }
  }
  // `rank` begins a call; the marks of two collectives differ.
  void announce(uint32_t rank, schedule::Collective collective) {
    const CallSignature shape{what_of(collective, false, 0), 8, 0};
    ranks_[rank].tracks->first().announce(shape, engines::shared_memory::hash_of_shape(shape), 0);
  }
  void post(uint32_t rank, StepKind kind, StepState& state) {
    post(*ranks_[rank].tracks->first().channel(), rank, kind, state);
  }
  void post(engines::wire::Channel& channel, uint32_t rank, StepKind kind, StepState& state) {
    Instruction step;
    step.kind = kind;
    step.peer = 1 - rank;
    step.bytes = step.elements = 8;
    step.source = step.destination = schedule::Buffer::kOutput;
    engines::Operands operands;
    operands.base[static_cast<int>(schedule::Buffer::kOutput)] = memory_[rank];
    (void)channel.run(step, state, operands);
  }

  test::Network network_{2, 1};
  One ranks_[2];
  std::byte memory_[2][8] = {};
};

TEST_F(TwoNodes, ReportAFailureAndWhoHasFailed) {
  EXPECT_EQ(ranks_[1].reports->receive().failed, NodeReports::kNoRank);
  ranks_[0].reports->report(Status(Code::kSystem, "gone"));
  const NodeReports::Received received = ranks_[1].reports->receive();
  EXPECT_TRUE(received.status.is_ok());
  EXPECT_EQ(received.failed, 0u);
}

TEST_F(TwoNodes, ReportAMismatchInTheSameWords) {
  ranks_[1].reports->report(Status(Code::kMismatch, "they differ"));
  const NodeReports::Received received = ranks_[0].reports->receive();
  EXPECT_EQ(received.status.code(), Code::kMismatch);
  EXPECT_STREQ(received.status.message(), "they differ");
  EXPECT_TRUE(received.all_know);
  EXPECT_TRUE(ranks_[0].reports->knows_mismatch());
}

TEST_F(TwoNodes, ReportLateRanksThatEndACallAsSuch) {
  ranks_[1].reports->report(Status(Code::kTimeout, "they are late"));
  const NodeReports::Received received = ranks_[0].reports->receive();
  EXPECT_EQ(received.status.code(), Code::kTimeout);
  EXPECT_STREQ(received.status.message(), "they are late");
  EXPECT_TRUE(received.all_know);
}

TEST_F(TwoNodes, ARankThatHasWaitedForASecondTellsItsCalls) {
  announce(0, schedule::Collective::kReduce);
  announce(1, schedule::Collective::kScatter);
  StepState state;
  post(0, StepKind::kReceive, state);
  EXPECT_EQ(ranks_[0].reports->compare_with_awaited(kSecondNs), "");
  EXPECT_TRUE(ranks_[1].reports->receive().status.is_ok()) << "it has only started to wait";
  EXPECT_EQ(ranks_[0].reports->compare_with_awaited(2 * kSecondNs), "");
  const NodeReports::Received received = ranks_[1].reports->receive();
  ASSERT_EQ(received.status.code(), Code::kMismatch);
  EXPECT_NE(std::string(received.status.message()).find("rank 0 calls reduce"), std::string::npos)
      << received.status.message();
  EXPECT_FALSE(received.all_know);
  ranks_[0].tracks->first().cancel();
}

TEST_F(TwoNodes, AMessageOfAnotherCallCountsOnlyIfItStays) {
  announce(0, schedule::Collective::kReduce);
  announce(1, schedule::Collective::kScatter);
  StepState sent, awaited;
  post(1, StepKind::kSend, sent);
  post(0, StepKind::kReceive, awaited);
  NodeReports& reports = *ranks_[0].reports;
  for (const uint64_t at : {1, 2}) EXPECT_EQ(reports.compare_with_awaited(at * kSecondNs), "") << "it has only asked";
  EXPECT_EQ(reports.compare_with_awaited(4 * kSecondNs), "") << "seen once";
  EXPECT_EQ(reports.compare_with_awaited(4 * kSecondNs + kSecondNs / 2), "") << "a second look is not due yet";
  const std::string difference = reports.compare_with_awaited(5 * kSecondNs);
  EXPECT_NE(difference.find("rank 1"), std::string::npos) << difference;
  ranks_[0].tracks->first().cancel();
}

TEST_F(TwoNodes, AMessageOfAnotherCallThatHasGoneMeanwhileCountsForNothing) {
  announce(0, schedule::Collective::kReduce);
  announce(1, schedule::Collective::kScatter);
  StepState sent, awaited;
  post(1, StepKind::kSend, sent);
  post(0, StepKind::kReceive, awaited);
  NodeReports& reports = *ranks_[0].reports;
  for (const uint64_t at : {1, 2, 4}) EXPECT_EQ(reports.compare_with_awaited(at * kSecondNs), "");
  // The receive for it is posted after all.
  StepState others[4];
  engines::wire::Channel other(*ranks_[0].wire, {8, 4}, 0, {0, 1});
  for (uint32_t mark = 0; mark < 4; ++mark) {
    other.mark(mark);
    post(other, 0, StepKind::kReceive, others[mark]);
  }
  EXPECT_EQ(reports.compare_with_awaited(5 * kSecondNs), "");
  ranks_[0].tracks->first().cancel();
}

class LateBetweenNodes : public TwoNodes {
 protected:
  // Rank 0 waits for a message of rank 1 in a barrier, and has asked for it.
  void wait_and_ask() {
    announce(0, schedule::Collective::kBarrier);
    post(0, StepKind::kReceive, state_);
    for (const uint64_t at : {1, 2}) EXPECT_EQ(reports().compare_with_awaited(at * kSecondNs), "");
  }
  void TearDown() override { ranks_[0].tracks->first().cancel(); }
  NodeReports& reports() { return *ranks_[0].reports; }
  StepState state_;
};

TEST_F(LateBetweenNodes, ARankThatDoesNotAnswerIsLate) {
  wait_and_ask();
  EXPECT_TRUE(reports().absent(0, 2 * kSecondNs).empty()) << "it was asked just now";
  EXPECT_EQ(reports().absent(0, 4 * kSecondNs), std::vector<uint32_t>{1});
  const LateFinder finder(ranks_[0].participants, *ranks_[0].tracks, Vocabulary::kHocket, {.after_ns = kSecondNs});
  ASSERT_EQ(finder.waits_for_others(), 0u);
  EXPECT_EQ(finder.find_elsewhere(0, {1}, 4 * kSecondNs),
            "barrier of a communicator of 2 ranks: rank 0 has waited for 4 s, and goes on waiting, for rank 1 (process "
            "2 on host b, which has not answered)");
  EXPECT_EQ(finder.find_elsewhere(0, {1}, 4 * kSecondNs), "") << "it has been said";
}

TEST_F(LateBetweenNodes, ARankThatWaitsInTheSameCallAnswersAndIsNotLate) {
  wait_and_ask();
  announce(1, schedule::Collective::kBarrier);
  EXPECT_TRUE(ranks_[1].reports->receive().status.is_ok());
  EXPECT_TRUE(reports().receive().status.is_ok());
  EXPECT_TRUE(reports().absent(0, 4 * kSecondNs).empty());
}

// It may be through with the call and compute, and not look for what it is asked.
TEST_F(LateBetweenNodes, ARankOfANodeAnswersForTheOthersThatHaveCome) {
  wait_and_ask();
  announce(1, schedule::Collective::kBarrier);
  EXPECT_TRUE(ranks_[1].reports->receive().status.is_ok());
  ReportChannel channel(*ranks_[0].wire, 4);
  uint32_t from = 0;
  const NodeReport answer = channel.take(from).take();
  EXPECT_EQ(answer.kind, NodeReport::kPresent);
  EXPECT_TRUE(answer.is_present(0));
  EXPECT_FALSE(answer.is_present(1));
}

TEST_F(LateBetweenNodes, WhoMayBeThroughWithACallIsNotCalledLateForSure) {
  announce(0, schedule::Collective::kBroadcast);
  const LateFinder finder(ranks_[0].participants, *ranks_[0].tracks, Vocabulary::kHocket, {.after_ns = kSecondNs});
  const std::string said = finder.find_elsewhere(0, {1}, 4 * kSecondNs);
  EXPECT_NE(said.find("(process 2 on host b, which has not answered: it is late, or through with its part)"),
            std::string::npos)
      << said;
}

TEST_F(LateBetweenNodes, ARankThatIsNotYetInTheCallDoesNotAnswer) {
  wait_and_ask();
  EXPECT_TRUE(ranks_[1].reports->receive().status.is_ok());
  EXPECT_TRUE(reports().receive().status.is_ok());
  EXPECT_EQ(reports().absent(0, 4 * kSecondNs), std::vector<uint32_t>{1});
}

TEST_F(LateBetweenNodes, WhatOneNodeHasSaidTheOtherKeepsToItself) {
  wait_and_ask();
  announce(1, schedule::Collective::kBarrier);
  StepState state;
  post(1, StepKind::kReceive, state);
  for (const uint64_t at : {1, 2}) EXPECT_EQ(ranks_[1].reports->compare_with_awaited(at * kSecondNs), "");
  ASSERT_EQ(ranks_[1].reports->absent(0, 4 * kSecondNs), std::vector<uint32_t>{0});
  reports().tell_late(0);
  EXPECT_TRUE(ranks_[1].reports->receive().status.is_ok());
  EXPECT_TRUE(ranks_[1].reports->absent(0, 4 * kSecondNs).empty());
  ranks_[1].tracks->first().cancel();
}

// A rank that waits for engines, which don't tell for whom, among many nodes of one rank each; only it is there.
TEST(LateOnManyNodes, AllAreAskedOnceBeforeAnyIsAskedMoreSeldom) {
  constexpr uint32_t kRanks = 60;
  test::Network network(kRanks, 1);
  const std::shared_ptr<engines::wire::Wire> wire = c_api::foreign_wire(network.wire_of(0)).take();
  const auto region = platform::SharedRegion::create(size_t{64} << 20).take();
  using engines::shared_memory::Member;
  using engines::shared_memory::NodeGroup;
  using engines::shared_memory::RankBlock;
  auto* block = static_cast<RankBlock*>(region->allocate(RankBlock::bytes(2)));
  ASSERT_NE(block, nullptr);
  Participants participants;
  participants.rank = 0;
  participants.size = kRanks;
  std::vector<uint64_t> labels(kRanks);
  std::iota(labels.begin(), labels.end(), 0);
  participants.nodes = std::make_unique<const schedule::Nodes>(labels);
  const platform::Window window{region->base(), region->limit()};
  participants.group =
      std::make_unique<NodeGroup>(0, std::vector<Member>{{.block = block, .window = window, .name = 0}}, region, false);
  participants.wire = {.wire = wire.get(),
                       .addresses = {},
                       .first_tag = 8,
                       .marks = 4,
                       .reports_tag = 4,
                       .unique_number = 7,
                       .places = {}};
  for (uint32_t rank = 0; rank < kRanks; ++rank) participants.wire.addresses.push_back(rank);
  carriers::Engines engines;
  Tracks tracks(participants, engines);
  ASSERT_TRUE(tracks.open(0).is_ok());
  NodeReports reports(participants, tracks, engines, Vocabulary::kHocket);
  const CallSignature shape{what_of(schedule::Collective::kBarrier, false, 0), 8, 0};
  tracks.first().announce(shape, engines::shared_memory::hash_of_shape(shape), 0);
  for (uint64_t tenths = 10; tenths < 30; ++tenths)
    EXPECT_EQ(reports.compare_with_awaited(tenths * kSecondNs / 10), "");
  EXPECT_EQ(reports.absent(0, 4 * kSecondNs).size(), kRanks - 1);
  tracks.first().cancel();
}

}  // namespace
}  // namespace hocket::communicator
