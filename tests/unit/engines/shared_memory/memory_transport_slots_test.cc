// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "engines/shared_memory/ranks.h"

namespace hocket::engines::shared_memory {
namespace {

using schedule::StepKind;

class LaneSlots : public RanksOfAGroup {
 protected:
  void SetUp() override { open(2); }
};

TEST_F(LaneSlots, BringWhatWasPublishedWhateverItsLength) {
  int first = 1;
  for (const uint64_t bytes : {0, 1, 3, 7, 8, 31, 48, 49, 512, 513, 4096, 16 * 1024, 64 * 1024}) {
    rank(0).fill(first++);
    rank(0).start({step_of(StepKind::kPublish, 0, bytes)});
    rank(1).start({step_of(StepKind::kGet, 0, bytes)});
    ASSERT_TRUE(end_all()) << bytes;
    EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, bytes)) << bytes;
    EXPECT_EQ(rank(1).output[bytes], std::byte{0}) << "it writes beyond " << bytes;
    std::fill(rank(1).output.begin(), rank(1).output.end(), std::byte{0});
  }
}

TEST_F(LaneSlots, GiveThePartThatTheReaderNames) {
  rank(0).fill(1);
  for (const uint64_t bytes : {40, 5000}) {
    Instruction get = step_of(StepKind::kGet, 0, 8);
    get.target_offset = 24;
    rank(0).start({step_of(StepKind::kPublish, 0, bytes)});
    rank(1).start({get});
    ASSERT_TRUE(end_all());
    EXPECT_EQ(std::memcmp(rank(1).output.data(), rank(0).input.data() + 24, 8), 0) << bytes;
  }
}

TEST_F(LaneSlots, AreReadInTheVersionThatIsAskedFor) {
  rank(0).fill(1);
  Instruction publish = step_of(StepKind::kPublish, 0, 8, 2);
  Instruction get = step_of(StepKind::kGet, 0, 8, 2);
  publish.source_offset = get.destination_offset = 8;
  Program publisher =
      program_of({step_of(StepKind::kPublish, 0, 8), counter_step(StepKind::kWaitUntil, 0, 1), publish});
  publisher.own_counters = 1;
  publisher.own_total[0] = 1;
  rank(0).start(std::move(publisher));
  rank(1).start({step_of(StepKind::kGet, 0, 8), counter_step(StepKind::kAdd, 0, 1), get});
  EXPECT_FALSE(rank(0).is_done());
  EXPECT_FALSE(rank(1).is_done()) << "the first version is not the second";
  ASSERT_EQ(rank(1).execution.waiting_step(), &rank(1).program.instructions[2]);
  EXPECT_EQ(rank(1).lane->awaits(*rank(1).execution.waiting_step()), 1u) << "rank 0's publication";
  EXPECT_TRUE(rank(0).is_done());
  EXPECT_TRUE(rank(1).is_done());
  EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, 16));
}

// A set is used again when all have finished the call that had it.
TEST_F(LaneSlots, LetARankRunAheadByAllSetsAndNoFurther) {
  for (uint32_t call = 1; call <= kSets; ++call) {
    rank(0).input[0] = static_cast<std::byte>(call);
    rank(0).start({step_of(StepKind::kPublish, 0, 1)});
    ASSERT_TRUE(rank(0).is_done()) << call;
  }
  rank(0).input[0] = static_cast<std::byte>(kSets + 1);
  rank(0).start({step_of(StepKind::kPublish, 0, 1)});
  EXPECT_FALSE(rank(0).is_done());
  for (uint32_t call = 1; call <= kSets + 1; ++call) {
    rank(1).start({step_of(StepKind::kGet, 0, 1)});
    ASSERT_TRUE(rank(1).is_done()) << call;
    EXPECT_EQ(rank(1).output[0], static_cast<std::byte>(call));
    EXPECT_TRUE(rank(0).is_done());
  }
}

// Buffers are fewer than calls that are under way: those of earlier calls serve again.
TEST_F(LaneSlots, KeepLongPublicationsUntilTheyHaveBeenRead) {
  constexpr uint64_t kBytes = 8192;
  constexpr int kAhead = static_cast<int>(kSets);
  for (int call = 1; call <= 6 * kAhead; ++call) {
    rank(0).fill(call);
    rank(0).start({step_of(StepKind::kPublish, 0, kBytes)});
    ASSERT_TRUE(rank(0).is_done()) << call;
    std::fill(rank(0).input.begin(), rank(0).input.end(), std::byte{0});
    if (call % kAhead != 0) continue;
    for (int late = call - kAhead + 1; late <= call; ++late) {
      rank(1).start({step_of(StepKind::kGet, 0, kBytes)});
      ASSERT_TRUE(rank(1).is_done()) << late;
      rank(0).fill(late);
      EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, kBytes)) << late;
    }
  }
}

TEST_F(LaneSlots, TakeWhatPeersPutIntoThem) {
  for (const uint64_t bytes : {8, 5000}) {
    rank(0).fill(9);
    Program taker = program_of({step_of(StepKind::kExpose, 1, bytes), counter_step(StepKind::kWaitUntil, 1, 1),
                                step_of(StepKind::kGet, 1, bytes)});
    taker.own_counters = 1;
    taker.own_total[0] = 1;
    rank(1).start(std::move(taker));
    EXPECT_FALSE(rank(1).is_done());
    rank(0).start({step_of(StepKind::kPut, 1, bytes), counter_step(StepKind::kAdd, 1, 1)});
    ASSERT_TRUE(end_all());
    EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, bytes)) << bytes;
  }
}

TEST_F(LaneSlots, OfAnotherCallAreNotUsed) {
  rank(0).announce(1);
  rank(1).announce(2);
  rank(0).fill(1);
  for (const StepKind kind : {StepKind::kGet, StepKind::kCombineFrom, StepKind::kPut}) {
    rank(0).start({step_of(StepKind::kPublish, 0, 8)});
    rank(1).start({step_of(kind, 0, 8)});
    EXPECT_TRUE(rank(0).is_done());
    EXPECT_FALSE(rank(1).is_done());
    ASSERT_TRUE(rank(1).lane->has_failed());
    EXPECT_EQ(std::string(rank(1).lane->take_failure().message()), in_another_call(0, 1));
    EXPECT_EQ(rank(1).output[0], std::byte{0});
  }
}

}  // namespace
}  // namespace hocket::engines::shared_memory
