// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engines/shared_memory/layout.h"

namespace hocket::communicator {
namespace {

using schedule::Collective;

class PlannerOfFour : public testing::Test {
 protected:
  std::shared_ptr<const Prepared> prepare(const CallShape& shape) {
    auto prepared = planner_.prepare(shape);
    EXPECT_TRUE(prepared.is_ok()) << prepared.status().message();
    return prepared.is_ok() ? prepared.take() : nullptr;
  }
  void force(Collective collective, const char* text) {
    auto spec = selection::parse_spec(collective, text);
    ASSERT_TRUE(spec.is_ok()) << spec.status().message();
    planner_.force(collective, spec.take());
  }
  static CallShape allreduce(uint64_t count) {
    return {.collective = Collective::kAllreduce, .count = count, .element_bytes = 8};
  }

  Planner planner_{Planner::Place{1, 4, nullptr, nullptr}, true, engines::shared_memory::kSlotStagingBytes,
                   selection::Table::shipped()};
};

TEST_F(PlannerOfFour, KeepsWhatItHasMade) {
  const CallShape shape = allreduce(1);
  EXPECT_EQ(planner_.recent(shape), nullptr);
  const auto made = prepare(shape);
  EXPECT_EQ(made->size, 4u);
  EXPECT_EQ(made->choice.calls, 1u);
  EXPECT_FALSE(made->last.instructions.empty());
  EXPECT_TRUE(made->chunk.instructions.empty());
  EXPECT_EQ(planner_.recent(shape), made.get());
  EXPECT_EQ(prepare(shape), made) << "the same object";
  EXPECT_EQ(planner_.recent(allreduce(2)), nullptr) << "another call";
}

// As a program does that passes the root around.
TEST_F(PlannerOfFour, NeighbouringRootsDoNotDisplaceEachOther) {
  CallShape shape{.collective = Collective::kBroadcast, .count = 100};
  for (shape.root = 0; shape.root < 4; ++shape.root) (void)prepare(shape);
  for (shape.root = 0; shape.root < 4; ++shape.root) EXPECT_NE(planner_.recent(shape), nullptr) << shape.root;
}

TEST_F(PlannerOfFour, FindsAmongManyWhatRecentCallsHaveDisplaced) {
  const CallShape shape = allreduce(1);
  const auto made = prepare(shape);
  for (uint64_t count = 2; count < 1000; ++count) (void)prepare(allreduce(count));
  EXPECT_EQ(planner_.recent(shape), nullptr);
  EXPECT_EQ(prepare(shape), made);
  EXPECT_EQ(planner_.recent(shape), made.get());
}

TEST_F(PlannerOfFour, ForgetsAllWhenAChoiceIsForced) {
  const CallShape shape = allreduce(1000);
  const auto before = prepare(shape);
  EXPECT_NE(before->choice.algorithm->name, "linear");
  force(Collective::kAllreduce, "linear");
  EXPECT_EQ(planner_.recent(shape), nullptr);
  const auto forced = prepare(shape);
  EXPECT_EQ(forced->choice.algorithm->name, "linear");
  EXPECT_NE(planner_.explain(shape).find("linear"), std::string::npos);
  planner_.force(Collective::kAllreduce, std::nullopt);
  EXPECT_EQ(prepare(shape)->choice.algorithm, before->choice.algorithm);
}

TEST_F(PlannerOfFour, RefusesForcedChoicesThatCannotServe) {
  force(Collective::kBroadcast, "multicast");
  const auto refused = planner_.prepare({.collective = Collective::kBroadcast, .count = 8});
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(std::string(refused.status().message()).find("multicast"), std::string::npos) << refused.status().message();
  EXPECT_TRUE(planner_.prepare({.collective = Collective::kBarrier}).is_ok()) << "of other collectives nothing is said";
}

TEST_F(PlannerOfFour, CutsLongMessagesIntoEqualCallsAndALast) {
  force(Collective::kAllreduce, "direct");
  constexpr uint64_t kCount = (uint64_t{64} << 20) + 3;
  const auto prepared = prepare(allreduce(kCount));
  const selection::Choice& choice = prepared->choice;
  ASSERT_GT(choice.calls, 1u);
  EXPECT_FALSE(prepared->plan.has_value()) << "one block: bound once and for all";
  const auto elements = [](const engines::Program& program) {
    uint64_t most = 0;
    for (const engines::Instruction& step : program.instructions)
      if (step.source == schedule::Buffer::kInput) most = std::max(most, step.source_offset + step.bytes);
    return most / 8;
  };
  EXPECT_EQ(elements(prepared->chunk), choice.chunk_elements);
  EXPECT_EQ(elements(prepared->last), kCount - (choice.calls - 1) * choice.chunk_elements);
}

TEST_F(PlannerOfFour, LeavesPlansUnboundWhereBlocksDifferOrAreCut) {
  CallShape shape{.collective = Collective::kAllgatherv, .count = 10, .row = 25};
  const auto varying = prepare(shape);
  ASSERT_TRUE(varying->plan.has_value());
  EXPECT_TRUE(varying->has_block_a_rank);
  EXPECT_TRUE(varying->last.instructions.empty());
  const auto equal = prepare({.collective = Collective::kAllgather, .count = 10});
  EXPECT_FALSE(equal->plan.has_value());
  EXPECT_FALSE(equal->last.instructions.empty());
}

TEST_F(PlannerOfFour, SignsCallsByWhatRanksMustAgreeOn) {
  const auto one = prepare(allreduce(4));
  CallShape in_place = allreduce(4);
  in_place.in_place = true;
  EXPECT_EQ(prepare(in_place)->signature, one->signature) << "each rank may have its own";
  EXPECT_EQ(prepare(in_place)->signature_hash, one->signature_hash);
  EXPECT_NE(prepare(allreduce(5))->signature, one->signature);
  EXPECT_NE(prepare(allreduce(5))->signature_hash, one->signature_hash);
  CallShape broadcast{.collective = Collective::kBroadcast, .root = 0, .count = 4, .element_bytes = 8};
  const auto from_first = prepare(broadcast);
  broadcast.root = 1;
  EXPECT_NE(prepare(broadcast)->signature, from_first->signature);
}

TEST_F(PlannerOfFour, WithinANodeWantsNoMulticastAndNoEngines) {
  EXPECT_FALSE(planner_.wants_multicast());
  EXPECT_EQ(planner_.candidate_for(allreduce(1)), nullptr);
  EXPECT_FALSE(prepare(allreduce(1))->runs_by_itself);
  EXPECT_TRUE(planner_.is_oversubscribed());
}

TEST(PlannerOnNodes, WantsMulticastWhereAChoiceIsForcedThatNeedsIt) {
  const uint64_t labels[] = {1, 1, 2, 2};
  const schedule::Nodes nodes{std::span<const uint64_t>(labels)};
  auto table = selection::Table::parse("hocket-table 1\nbroadcast one_to_all\n", "test");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  Planner planner(Planner::Place{0, 4, &nodes, nullptr}, false, engines::shared_memory::kSlotStagingBytes,
                  table.take());
  EXPECT_FALSE(planner.wants_multicast());
  auto spec = selection::parse_spec(Collective::kBroadcast, "multicast");
  ASSERT_TRUE(spec.is_ok());
  planner.force(Collective::kBroadcast, spec.take());
  EXPECT_TRUE(planner.wants_multicast());
}

}  // namespace
}  // namespace hocket::communicator
