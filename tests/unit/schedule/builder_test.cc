// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.h"

#include <random>

#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

Slice whole(uint32_t blocks = 1) { return {.buffer = Buffer::kOutput, .blocks = blocks, .last = 1}; }

Builder builder_of(uint32_t size, uint32_t rank, Collective collective = Collective::kAllreduce) {
  return Builder(collective, Shape{.size = size, .rank = rank});
}

// A tree of two: everybody but the root sends to it, and gets the result back.
void star_allreduce(Builder& b) {
  if (b.rank() != b.root()) {
    b.send(b.root(), b.input());
    b.receive(b.root(), b.output());
    return;
  }
  b.copy(b.input(), b.output());
  for (uint32_t peer = 0; peer < b.size(); ++peer) {
    if (peer != b.root()) b.receive_combine(peer, b.output(), b.output(), false);
  }
  for (uint32_t peer = 0; peer < b.size(); ++peer) {
    if (peer != b.root()) b.send(peer, b.output());
  }
}

void pulled_broadcast(Builder& b) {
  if (b.rank() == b.root()) {
    b.publish(0, b.output());
    b.wait_until(0, b.size() - 1);
    b.own_total(0, b.size() - 1);
  } else {
    b.get({.peer = b.root()}, b.output());
    b.add(b.root(), 0);
  }
}

TEST(BuilderSlices, PartsCoverTheWholeWithoutGapsWhateverTheCount) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    const uint32_t outer = 1 + random() % 20;
    const uint32_t inner = 1 + random() % 20;
    const uint64_t count = random() % 1000;
    uint64_t next = 0;
    for (uint32_t i = 0; i < outer; ++i) {
      for (uint32_t j = 0; j < inner; ++j) {
        const Range range = resolve(Builder::part(Builder::part(whole(3), i, outer), j, inner), count);
        EXPECT_EQ(range.offset, next);
        next += range.length;
      }
    }
    EXPECT_EQ(next, 3 * count);
  }
}

TEST(BuilderSlices, EqualPartsAreEqualHoweverTheyAreCut) {
  EXPECT_EQ(Builder::part(Builder::part(whole(), 1, 2), 1, 3), Builder::part(whole(), 4, 6));
  EXPECT_EQ(Builder::parts_of(whole(), 2, 4, 6), Builder::part(whole(), 1, 3));
  EXPECT_EQ(Builder::parts_of(whole(), 0, 5, 5), whole());
}

TEST(BuilderSlices, ScratchHoldsAnySegmentAtItsBeginning) {
  Builder b = builder_of(2, 0);
  const uint8_t area = b.scratch_area(Builder::part(b.input(), 0, 3));
  const Plan plan = b.finish();
  for (uint64_t count = 0; count < 100; ++count) {
    for (uint32_t i = 0; i < 3; ++i) {
      const Slice segment = Builder::part(whole(), i, 3);
      const Range range = resolve(Builder::in_scratch(area, segment, segment), count);
      EXPECT_EQ(range.offset, 0u);
      EXPECT_EQ(range.length, resolve(segment, count).length);
      EXPECT_LE(range.length, plan.scratch[area].elements(count));
    }
  }
}

TEST(BuilderSlices, PartsOfASegmentInScratchLieAsInTheSegment) {
  for (uint64_t count = 0; count < 60; ++count) {
    const Slice segment = Builder::part(whole(), 2, 5);
    const Slice piece = Builder::part(segment, 1, 3);
    const Range in_buffer = resolve(piece, count);
    const Range in_scratch = resolve(Builder::in_scratch(0, piece, segment), count);
    EXPECT_EQ(in_scratch.offset, in_buffer.offset - resolve(segment, count).offset);
    EXPECT_EQ(in_scratch.length, in_buffer.length);
    EXPECT_EQ(resolve(Builder::part(Builder::in_scratch(0, segment, segment), 1, 3), count).offset, in_scratch.offset);
  }
}

TEST(Builder, StagesEndWhereTheyAreEnded) {
  Builder b = builder_of(3, 0);
  b.begin_stage();
  b.send(1, b.input());
  b.receive(2, b.output());
  b.end_stage();
  b.begin_stage();
  b.end_stage();
  b.send(2, b.output());
  const Plan plan = b.finish();
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_FALSE(plan.steps[0].ends_stage);
  EXPECT_TRUE(plan.steps[1].ends_stage);
  EXPECT_TRUE(plan.steps[2].ends_stage);
}

TEST(Builder, CopiesNothingOntoItself) {
  Builder b = builder_of(2, 0);
  b.copy(b.output(), b.output());
  EXPECT_TRUE(b.finish().steps.empty());
}

TEST(Builder, CountsPublications) {
  Builder b = builder_of(2, 0);
  b.publish(0, b.input());
  b.expose(3, b.output());
  b.publish(3, b.input());
  const Plan plan = b.finish();
  EXPECT_EQ(plan.steps[0].version, 1u);
  EXPECT_EQ(plan.steps[1].version, 1u);
  EXPECT_EQ(plan.steps[2].version, 2u);
  EXPECT_EQ(plan.slots, 4u);
  EXPECT_TRUE(plan.uses_slots_or_counters);
}

// Ranks in nodes of two: allreduce in each node, allreduce among the nodes' first, broadcast in each node.
void hierarchical_allreduce(Builder& b) {
  const uint32_t leader = b.rank() / 2 * 2;
  const Slice sum = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
  Builder::GroupOptions node;
  for (uint32_t rank = leader; rank < std::min(leader + 2, b.size()); ++rank) node.ranks.push_back(rank);
  node.input = b.input();
  node.output = sum;
  b.enter_group(node);
  star_allreduce(b);
  b.leave_group();
  if (b.rank() == leader) {
    Builder::GroupOptions leaders;
    for (uint32_t rank = 0; rank < b.size(); rank += 2) leaders.ranks.push_back(rank);
    leaders.root = static_cast<uint32_t>(leaders.ranks.size()) - 1;
    leaders.input = sum;
    leaders.output = b.output();
    b.enter_group(leaders);
    star_allreduce(b);
    b.leave_group();
  }
  node.input = {};
  node.output = b.output();
  node.slot_base = 2;
  node.counter_base = 5;
  b.enter_group(node);
  if (b.size() > 1) pulled_broadcast(b);
  b.leave_group();
}

TEST(BuilderGroups, ComposeIntoPlansThatVerify) {
  for (uint32_t size = 2; size <= 12; size += 2) {
    const auto plans = plans_of(Collective::kAllreduce, size, hierarchical_allreduce);
    const Report report = verify(plans, with_count(5));
    EXPECT_TRUE(report.is_correct()) << report.text();
    EXPECT_EQ(plans[0].slots, 3u);
    EXPECT_EQ(plans[0].own_total[5], 1u);
  }
}

TEST(BuilderGroups, NestAndTranslateRanksSlotsAndCounters) {
  Builder b = builder_of(9, 6);
  b.enter_group(
      {.ranks = {0, 2, 4, 6, 8}, .input = b.input(), .output = b.output(), .slot_base = 1, .counter_base = 2});
  EXPECT_EQ(b.rank(), 3u);
  b.enter_group({.ranks = {4, 3, 1}, .root = 2, .input = b.output(), .output = b.output(), .slot_base = 3});
  EXPECT_EQ(b.size(), 3u);
  EXPECT_EQ(b.rank(), 1u);
  EXPECT_EQ(b.input(), b.output());
  b.get({.peer = b.root(), .slot = 2}, b.output());
  b.add(0, 1);
  b.leave_group();
  b.leave_group();
  const Plan plan = b.finish();
  EXPECT_EQ(plan.steps[0].peer, 2u);
  EXPECT_EQ(plan.steps[0].slot, 6u);
  EXPECT_EQ(plan.steps[1].peer, 8u);
  EXPECT_EQ(plan.steps[1].slot, 3u);
}

TEST(BuilderGroups, LeaveTheOuterShapeWhereItIs) {
  Builder b = builder_of(2, 0);
  const Shape* outer = &b.shape();
  for (int depth = 0; depth < 20; ++depth) b.enter_group({.ranks = {0, 1}, .input = b.output(), .output = b.output()});
  EXPECT_NE(&b.shape(), outer);
  for (int depth = 0; depth < 20; ++depth) b.leave_group();
  EXPECT_EQ(&b.shape(), outer);
}

TEST(BuilderGroups, LendScratchAreasToThoseThatComeAfterThem) {
  Builder b = builder_of(3, 0);
  const auto in_group = [&](bool lends, const Slice& like) {
    b.enter_group({.ranks = {0, 1}, .input = b.output(), .output = b.output(), .lends_scratch = lends});
    const uint8_t area = b.scratch_area(like);
    b.leave_group();
    return area;
  };
  const Slice half = Builder::part(b.output(), 0, 2);
  const uint8_t first = in_group(true, half);
  EXPECT_EQ(in_group(true, half), first);
  EXPECT_NE(in_group(true, b.output()), first) << "another length";
  EXPECT_EQ(in_group(false, half), first);
  EXPECT_NE(in_group(true, half), first) << "kept by the one before";
  EXPECT_NE(b.scratch_area(half), first);
}

TEST(BuilderGroups, BlocksOfUnequalLengthsMayAllBeMissing) {
  Builder b = builder_of(2, 0);
  b.enter_group({.ranks = {0, 1}, .input = b.output(), .input_cuts = {0, 1, 3}, .output_cuts = {0, 0, 0}});
  EXPECT_EQ(resolve(b.input_block(1), 9).offset, 3u);
  EXPECT_EQ(resolve(b.input_block(1), 9).length, 6u);
  EXPECT_TRUE(b.output_block(1).is_empty());
  b.leave_group();
}

TEST(BuilderGroups, RanksThatPlansShareAreTheSameAsOnesOwn) {
  const std::vector<uint32_t> all = {1, 3, 4, 6}, others = {1, 3}, inner = {0, 2};
  for (const bool are_shared : {false, true}) {
    Builder b = builder_of(7, 4);
    const auto enter = [&](const std::vector<uint32_t>& ranks) {
      Builder::GroupOptions options;
      if (are_shared) {
        options.shared_ranks = ranks;
      } else {
        options.ranks = ranks;
      }
      b.enter_group(options);
    };
    enter(all);
    EXPECT_EQ(b.size(), 4u);
    EXPECT_EQ(b.rank(), 2u);
    EXPECT_EQ(b.nodes().ranks(), 4u);
    b.send(3, {});
    enter(inner);
    EXPECT_EQ(b.rank(), 1u);
    b.send(0, {});
    b.leave_group();
    b.leave_group();
    const Plan plan = b.finish();
    ASSERT_EQ(plan.steps.size(), 2u);
    EXPECT_EQ(plan.steps[0].peer, 6u);
    EXPECT_EQ(plan.steps[1].peer, 1u);
  }
  EXPECT_DEATH(builder_of(7, 4).enter_group({.ranks = {}, .shared_ranks = others}), "a group that it is not in");
}

TEST(BuilderDeathTest, MisuseEndsWithASentence) {
  EXPECT_DEATH(builder_of(2, 0).send(2, {}), "peer out of range");
  EXPECT_DEATH(builder_of(2, 0).send(0, {}), "sends nothing to itself");
  EXPECT_DEATH(builder_of(2, 0).end_stage(), "a stage ends that has not started");
  EXPECT_DEATH(builder_of(2, 0).publish(kMaxSlots, {}), "slot number out of range");
  EXPECT_DEATH(builder_of(2, 0).enter_group({.ranks = {1}}), "a group that it is not in");
  EXPECT_DEATH(
      {
        Builder b = builder_of(4, 0);
        b.publish(0, b.input());
        b.enter_group({.ranks = {0, 1}});
      },
      "slots have been used before");
  EXPECT_DEATH(
      {
        Builder b = builder_of(4, 0);
        b.enter_group({.ranks = {0, 1}});
        b.add_shared(0);
      },
      "shared counters");
  EXPECT_DEATH(
      {
        Builder b = builder_of(4, 0);
        b.begin_stage();
        (void)b.finish();
      },
      "a plan ends within a stage");
}

TEST(Collectives, HaveNamesAndExtents) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(collective_from_name(name(collective)), collective);
  }
  EXPECT_FALSE(collective_from_name("alltoallw").has_value());
  EXPECT_EQ(input_blocks(Collective::kBroadcast, 7), 0u);
  EXPECT_EQ(output_blocks(Collective::kAllgather, 7), 7u);
  EXPECT_EQ(input_blocks(Collective::kScatterv, 7), 7u);
  EXPECT_TRUE(has_input(Collective::kScatterv, true));
  EXPECT_FALSE(has_input(Collective::kScatterv, false));
  EXPECT_TRUE(has_output(Collective::kScatterv, false));
  EXPECT_FALSE(has_output(Collective::kBarrier, true));
}

TEST(Collectives, CombineTheOperandsOfTheFirstRanks) {
  EXPECT_EQ(combined_ranks(Collective::kAllgather, 2, 7), 0u);
  EXPECT_EQ(combined_ranks(Collective::kReduceScatter, 2, 7), 7u);
  EXPECT_EQ(combined_ranks(Collective::kScan, 2, 7), 3u);
  EXPECT_EQ(combined_ranks(Collective::kExscan, 2, 7), 2u);
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(combined_ranks(collective, 2, 7) != 0, combines(collective)) << name(collective);
  }
}

}  // namespace
}  // namespace hocket::schedule
