// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "engines/shared_memory/ranks.h"

namespace hocket::engines::shared_memory {
namespace {

using schedule::StepKind;

class LaneMessages : public RanksOfAGroup {
 protected:
  void SetUp() override { open(2); }
};

TEST_F(LaneMessages, ArriveWholeWhateverWayTheyGo) {
  int first = 1;
  for (const uint64_t bytes : {0, 1, 48, 49, 4096, 4097, 32 * 1024, 32 * 1024 + 1, 200'000}) {
    rank(0).fill(first++);
    rank(0).start({step_of(StepKind::kSend, 1, bytes)});
    rank(1).start({step_of(StepKind::kReceive, 0, bytes)});
    ASSERT_TRUE(end_all()) << bytes;
    EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, bytes)) << bytes;
    EXPECT_EQ(rank(1).output[bytes], std::byte{0}) << "it writes beyond " << bytes;
    std::fill(rank(1).output.begin(), rank(1).output.end(), std::byte{0});
  }
}

TEST_F(LaneMessages, RunAheadByAsManyLinesAsThereAre) {
  std::vector<Instruction> sends(kMailDepth + 1, step_of(StepKind::kSend, 1, 8));
  std::vector<Instruction> receives(kMailDepth + 1, step_of(StepKind::kReceive, 0, 8));
  for (uint64_t i = 0; i <= kMailDepth; ++i) sends[i].source_offset = receives[i].destination_offset = i * 8;
  rank(0).fill(3);
  rank(0).start(sends);
  EXPECT_FALSE(rank(0).is_done());
  ASSERT_NE(rank(0).execution.waiting_step(), nullptr);
  EXPECT_EQ(rank(0).execution.waiting_step()->source_offset, kMailDepth * 8) << "the last has no line";
  rank(1).start(receives);
  EXPECT_FALSE(rank(1).is_done());
  EXPECT_TRUE(rank(0).is_done());
  EXPECT_TRUE(rank(1).is_done());
  EXPECT_TRUE(are_equal(rank(0).input, rank(1).output, receives.size() * 8));
}

TEST_F(LaneMessages, AreCombinedOnTheSideThatTheStepNames) {
  rank(1).combiner.commutative = false;
  rank(1).combiner.function = [](const void* in, void* inout, size_t count, uint32_t, void*) {
    const auto* left = static_cast<const uint8_t*>(in);
    auto* right = static_cast<uint8_t*>(inout);
    for (size_t i = 0; i < count; ++i) right[i] = static_cast<uint8_t>(left[i] - right[i]);
  };
  for (const bool incoming_left : {true, false}) {
    for (const uint64_t bytes : {8, 5000}) {
      rank(0).fill(100);
      rank(1).fill(7);
      Instruction receive = step_of(StepKind::kReceiveCombine, 0, bytes);
      receive.incoming_left = incoming_left;
      rank(0).start({step_of(StepKind::kSend, 1, bytes)});
      rank(1).start({receive});
      ASSERT_TRUE(end_all());
      const auto difference = static_cast<std::byte>(incoming_left ? 93 : -93);
      EXPECT_EQ(rank(1).output[0], difference) << bytes;
      EXPECT_EQ(rank(1).output[bytes - 1], difference) << bytes;
    }
  }
}

// In memory that the receiver maps it needs no copy, and so must be left alone until it has been read.
TEST_F(LaneMessages, OfMappedMemoryEndWhenTheyHaveBeenRead) {
  constexpr uint64_t kBytes = 8192;
  auto* mapped = static_cast<std::byte*>(region().allocate(kBytes));
  ASSERT_NE(mapped, nullptr);
  std::fill_n(mapped, kBytes, std::byte{5});
  const Program program = program_of({step_of(StepKind::kSend, 1, kBytes)});
  Operands operands;
  operands.base[static_cast<int>(schedule::Buffer::kInput)] = mapped;
  rank(0).execution.start(program, operands, *rank(0).lane);
  EXPECT_FALSE(rank(0).is_done());
  mapped[17] = std::byte{6};
  rank(1).start({step_of(StepKind::kReceive, 0, kBytes)});
  EXPECT_TRUE(rank(1).is_done());
  EXPECT_EQ(rank(1).output[16], std::byte{5});
  EXPECT_EQ(rank(1).output[17], std::byte{6}) << "it was copied when it was sent";
  EXPECT_TRUE(rank(0).is_done());
  region().free(mapped);
}

void expect_refusal(MemoryTransport& lane, uint64_t bytes) {
  ASSERT_TRUE(lane.has_failed());
  const Status failure = lane.take_failure();
  EXPECT_EQ(failure.code(), Code::kMismatch);
  EXPECT_EQ(std::string(failure.message()),
            "rank 0 sends " + std::to_string(bytes) +
                " bytes where rank 1 expects 8; the counts of the two ranks don't match");
}

TEST_F(LaneMessages, OfAnotherLengthAreRefusedAndWrittenNowhere) {
  rank(0).fill(1);
  rank(0).start({step_of(StepKind::kSend, 1, 16)});
  rank(1).start({step_of(StepKind::kReceive, 0, 8)});
  EXPECT_TRUE(rank(0).is_done());
  EXPECT_FALSE(rank(1).is_done());
  expect_refusal(*rank(1).lane, 16);
  EXPECT_EQ(rank(1).output[0], std::byte{0});
}

TEST_F(LaneMessages, OfAnotherLengthBesideTheLineAreRefusedToo) {
  rank(0).fill(1);
  rank(0).start({step_of(StepKind::kSend, 1, 1000)});
  rank(1).start({step_of(StepKind::kReceive, 0, 8)});
  EXPECT_TRUE(rank(0).is_done());
  EXPECT_FALSE(rank(1).is_done());
  expect_refusal(*rank(1).lane, 1000);
  EXPECT_EQ(rank(1).output[0], std::byte{0});
}

TEST_F(LaneMessages, OfAnotherCallAreNotUsed) {
  rank(0).announce(1);
  rank(1).announce(2);
  rank(0).fill(1);
  rank(0).start({step_of(StepKind::kSend, 1, 8)});
  rank(1).start({step_of(StepKind::kReceive, 0, 8)});
  EXPECT_TRUE(rank(0).is_done());
  EXPECT_FALSE(rank(1).is_done());
  ASSERT_TRUE(rank(1).lane->has_failed());
  EXPECT_EQ(std::string(rank(1).lane->take_failure().message()), in_another_call(0, 1));
  EXPECT_EQ(rank(1).output[0], std::byte{0});
}

}  // namespace
}  // namespace hocket::engines::shared_memory
