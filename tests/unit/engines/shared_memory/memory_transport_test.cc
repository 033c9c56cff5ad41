// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/memory_transport.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace hocket::engines::shared_memory {
namespace {

using schedule::StepKind;

// Of one rank, whose memory is its own.
class MemoryTransportOfOneRank : public testing::Test {
 protected:
  void SetUp() override {
    auto region = platform::SharedRegion::create(size_t{64} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    auto* block = static_cast<RankBlock*>(region.value()->allocate(RankBlock::bytes(1)));
    ASSERT_NE(block, nullptr);
    const platform::Window window{region.value()->base(), region.value()->limit()};
    group_ =
        std::make_unique<NodeGroup>(0, std::vector<Member>{{.block = block, .window = window}}, region.take(), false);
    auto lane = MemoryTransport::create(*group_, 0);
    ASSERT_TRUE(lane.is_ok()) << lane.status().message();
    lane_ = lane.take();
  }

  std::unique_ptr<NodeGroup> group_;
  std::unique_ptr<MemoryTransport> lane_;
};

TEST_F(MemoryTransportOfOneRank, RefusesStepsThatOthersCarryOut) {
  const std::pair<StepKind, const char*> kinds[] = {
      {StepKind::kMulticast, "multicast"}, {StepKind::kFirstOf, "first_of"}, {StepKind::kTrigger, "trigger"}};
  for (const auto& [kind, name] : kinds) {
    Program program;
    Instruction& step = program.instructions.emplace_back();
    step.kind = kind;
    StepState state;
    lane_->begin(program);
    EXPECT_EQ(lane_->run(step, state, {}), Progress::kPending) << name;
    ASSERT_TRUE(lane_->has_failed()) << name;
    const Status failure = lane_->take_failure();
    EXPECT_EQ(failure.code(), Code::kNotSupported);
    EXPECT_NE(std::string(failure.message()).find("`" + std::string(name) + "`"), std::string::npos)
        << failure.message();
  }
}

}  // namespace
}  // namespace hocket::engines::shared_memory
