// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "engines/shared_memory/ranks.h"

namespace hocket::engines::shared_memory {
namespace {

using schedule::kShared;
using schedule::StepKind;

class LaneCounters : public RanksOfAGroup {
 protected:
  static constexpr uint32_t kRanks = 3;
  void SetUp() override { open(kRanks); }
  static Program barrier() {
    Program program =
        program_of({counter_step(StepKind::kAdd, kShared, 1), counter_step(StepKind::kWaitUntil, kShared, kRanks)});
    program.synchronizing = true;
    program.shared_counters = 1;
    program.shared_total[0] = kRanks;
    return program;
  }
};

TEST_F(LaneCounters, LetAllPassWhenAllHaveAddedCallAfterCall) {
  for (uint32_t call = 1; call <= 3 * kSets; ++call) {
    const uint32_t last = call % kRanks;
    for (uint32_t i = 0; i < kRanks; ++i) rank(i).announce(call % 2);
    for (uint32_t i = 0; i < kRanks; ++i) {
      if (i == last) continue;
      rank(i).start(barrier());
      ASSERT_FALSE(rank(i).is_done()) << call;
    }
    rank(last).start(barrier());
    ASSERT_TRUE(rank(last).is_done()) << call;
    for (uint32_t i = 0; i < kRanks; ++i) ASSERT_TRUE(rank(i).is_done()) << call;
  }
}

TEST_F(LaneCounters, OfARankCountWhatItsPeersAdd) {
  for (int call = 0; call < 2; ++call) {
    Program waiter = program_of({counter_step(StepKind::kWaitUntil, 0, 5)});
    waiter.own_counters = 1;
    waiter.own_total[0] = 5;
    rank(0).start(std::move(waiter));
    rank(1).start({counter_step(StepKind::kAdd, 0, 2)});
    rank(2).start({counter_step(StepKind::kAdd, 0, 3)});
    EXPECT_TRUE(rank(2).is_done());
    EXPECT_FALSE(rank(0).is_done());
    EXPECT_TRUE(rank(1).is_done());
    EXPECT_TRUE(rank(0).is_done());
  }
}

TEST_F(LaneCounters, ShowThatRanksAreInDifferentCalls) {
  for (uint32_t i = 0; i < kRanks; ++i) rank(i).announce(i == 2 ? 7 : 0);
  for (uint32_t i = 0; i < kRanks; ++i) {
    rank(i).start(barrier());
    EXPECT_FALSE(rank(i).is_done());
  }
  EXPECT_FALSE(rank(0).is_done());
  ASSERT_TRUE(rank(0).lane->has_failed());
  const Status failure = rank(0).lane->take_failure();
  EXPECT_EQ(failure.code(), Code::kMismatch);
  EXPECT_EQ(std::string(failure.message()),
            std::string("the ranks beside rank 0 are in other calls, or were before; ") + kSameCalls);
}

TEST_F(LaneCounters, TellWhatASleeperWaitsFor) {
  const MemoryTransport& lane = *rank(0).lane;
  EXPECT_EQ(lane.awaits(counter_step(StepKind::kWaitUntil, kShared, 1)), RankBlock::kSharedCounter);
  EXPECT_EQ(lane.awaits(counter_step(StepKind::kWaitUntil, 0, 1)), RankBlock::kMessage);
  EXPECT_EQ(lane.awaits(step_of(StepKind::kSend, 2, 8)), RankBlock::kMessage);
  EXPECT_EQ(lane.awaits(step_of(StepKind::kCombineFrom, 2, 8)), 3u);
  EXPECT_EQ(lane.awaits(step_of(StepKind::kPublish, 0, 8)), RankBlock::kAnything);
}

TEST_F(LaneCounters, LeaveARecordOfTheLastCallsOnly) {
  for (uint64_t call = 1; call <= kSets + 2; ++call) rank(1).announce(100 + call);
  const MemoryTransport& reader = *rank(0).lane;
  CallSignature found;
  EXPECT_FALSE(reader.read_record(1, kSets + 3, found)) << "it has not started";
  for (uint64_t call = first_remembered(kSets + 2); call <= kSets + 2; ++call) {
    ASSERT_TRUE(reader.read_record(1, call, found)) << call;
    EXPECT_EQ(found, (CallSignature{100 + call, 8, 0}));
  }
  EXPECT_FALSE(reader.read_record(1, first_remembered(kSets + 2) - 1, found)) << "another call has its place";
}

TEST_F(LaneCounters, ServeScratchThatNobodyReadsAnyMore) {
  MemoryTransport& lane = *rank(0).lane;
  const auto publish_from = [&](std::byte* scratch) {
    Instruction publish = step_of(StepKind::kPublish, 0, 1024);
    publish.source = schedule::Buffer::kScratch;
    rank(0).program = program_of({publish});
    Operands operands;
    operands.base[static_cast<int>(schedule::Buffer::kScratch)] = scratch;
    rank(0).execution.start(rank(0).program, operands, lane);
    EXPECT_TRUE(rank(0).is_done());
  };
  Result<std::byte*> first = lane.take_scratch(1024);
  ASSERT_TRUE(first.is_ok() && first.value() != nullptr);
  publish_from(first.value());
  Result<std::byte*> second = lane.take_scratch(1024);
  ASSERT_TRUE(second.is_ok() && second.value() != nullptr);
  EXPECT_NE(first.value(), second.value()) << "peers may still read the first";
  publish_from(second.value());
  Result<std::byte*> third = lane.take_scratch(1024);
  ASSERT_TRUE(third.is_ok());
  EXPECT_EQ(third.value(), nullptr);
  for (const uint32_t reader : {1, 2}) {
    rank(reader).start({step_of(StepKind::kGet, 0, 1024)});
    ASSERT_TRUE(rank(reader).is_done());
  }
  Result<std::byte*> again = lane.take_scratch(512);
  ASSERT_TRUE(again.is_ok());
  EXPECT_EQ(again.value(), first.value());
}

}  // namespace
}  // namespace hocket::engines::shared_memory
