// SPDX-License-Identifier: BSD-3-Clause
// What compositions say of messages and bytes between nodes and of copies, counted.
#include <gtest/gtest.h>

#include <map>

#include "layouts.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;
using schedule::Nodes;
using schedule::Plan;
using schedule::Shape;
using schedule::Step;
using schedule::StepKind;

struct Crossing {
  uint64_t messages = 0;  // between nodes
  uint64_t elements = 0;
  uint64_t copies = 0;  // copied within ranks
  std::map<uint32_t, uint64_t> by_rank;
};

Crossing crossing(Collective collective, std::string_view name, Shape shape, uint64_t count) {
  Crossing found;
  for (const Plan& plan : plans_of(*find(collective, name), shape)) {
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::kCopy) found.copies += schedule::resolve(step.source, count).length;
      if (step.kind != StepKind::kSend || shape.nodes->together(plan.shape.rank, step.peer)) continue;
      ++found.messages;
      ++found.by_rank[plan.shape.rank];
      found.elements += schedule::resolve(step.source, count).length;
    }
  }
  return found;
}

// Four nodes of six ranks.
constexpr uint32_t kNodes = 4;
constexpr uint32_t kRanks = 6;
constexpr uint32_t kSize = kNodes * kRanks;

TEST(AlltoallOverNodes, NeedsAsManyMessagesAsItHasLanes) {
  const Nodes nodes = Layout{std::vector(kNodes, kRanks)}.nodes();
  const uint64_t blocks = uint64_t{kSize} * (kSize - kRanks);
  for (const uint32_t lanes : {1u, 2u, 3u, 6u}) {
    for (const char* name : {"leader", "send_aggregation", "receive_distribution"}) {
      const Crossing found =
          crossing(Collective::kAlltoall, name, {.size = kSize, .degree = lanes, .nodes = &nodes}, 5);
      EXPECT_EQ(found.messages, uint64_t{kNodes} * (kNodes - 1) * lanes) << name;
      EXPECT_EQ(found.elements, blocks * 5) << name;
      EXPECT_EQ(found.by_rank.size(), kNodes * lanes) << name << ": as many ranks of a node take part";
    }
  }
  const Shape flat{.size = kSize, .nodes = &nodes};
  EXPECT_EQ(crossing(Collective::kAlltoall, "linear", flat, 5).messages, blocks);
  EXPECT_EQ(crossing(Collective::kAlltoall, "pairwise", flat, 5).messages, blocks);
}

TEST(AlltoallOverNodes, SendsByAllCoresUnlessToldOtherwise) {
  const Nodes nodes = Layout{std::vector(kNodes, kRanks)}.nodes();
  for (const char* name : {"send_aggregation", "receive_distribution"}) {
    const Crossing found = crossing(Collective::kAlltoall, name, {.size = kSize, .nodes = &nodes}, 1);
    for (uint32_t rank = 0; rank < kSize; ++rank) EXPECT_EQ(found.by_rank.at(rank), kNodes - 1);
  }
  EXPECT_EQ(crossing(Collective::kAlltoall, "leader", {.size = kSize, .nodes = &nodes}, 1).by_rank.size(), kNodes);
}

TEST(AlltoallOverNodes, CopiesNothingIntoOrderWhereBlocksLieSo) {
  const auto copies = [](const char* name, Order order) {
    const Nodes nodes = Layout{std::vector(kNodes, kRanks), order}.nodes();
    // Less what a rank gives itself, in the node and across.
    const uint64_t own = uint64_t{kSize} * (kNodes + kRanks);
    return crossing(Collective::kAlltoall, name, {.size = kSize, .nodes = &nodes}, 1).copies - own;
  };
  constexpr uint64_t kAll = uint64_t{kSize} * kSize;
  // By blocks, a node's ranks are neighbours; cyclic, a place's are. Either way one side of each step fits.
  EXPECT_EQ(copies("send_aggregation", Order::kBlock), 2 * kAll);
  EXPECT_EQ(copies("receive_distribution", Order::kBlock), 2 * kAll);
  EXPECT_EQ(copies("send_aggregation", Order::kCyclic), 2 * kAll);
  EXPECT_EQ(copies("send_aggregation", Order::kRandom), 3 * kAll);
}

TEST(AlltoallLinear, BoundsTheMessagesInFlightByItsWindow) {
  const Algorithm& linear = *find(Collective::kAlltoall, "linear");
  for (const uint32_t window : {1u, 4u, 16u, 22u}) {
    for (const Plan& plan : plans_of(linear, {.size = 23, .degree = window})) {
      uint32_t sends = 0;
      uint32_t receives = 0;
      for (const Step& step : plan.steps) {
        sends += step.kind == StepKind::kSend ? 1 : 0;
        receives += step.kind == StepKind::kReceive ? 1 : 0;
        if (step.kind == StepKind::kSend && window < 22) {
          EXPECT_GT(receives, 0u) << "a place for what comes first";
        }
        EXPECT_LE(sends, window);
        if (step.ends_stage) sends = receives = 0;
      }
    }
  }
  EXPECT_EQ(make_plan(linear, {.size = 23, .degree = 22}).steps, make_plan(linear, {.size = 23}).steps);
}

TEST(ReductionsOverNodes, CrossOnceForEachNodeOrLane) {
  const Nodes nodes = Layout{std::vector(kNodes, kRanks)}.nodes();
  for (const uint32_t root : {0u, 9u}) {
    const Shape shape{.size = kSize, .root = root, .nodes = &nodes};
    for (const Collective collective : {Collective::kReduce, Collective::kBroadcast}) {
      EXPECT_EQ(crossing(collective, "leader", shape, 24).messages, kNodes - 1);
      EXPECT_EQ(crossing(collective, "leader", shape, 24).elements, (kNodes - 1) * 24u);
      EXPECT_EQ(crossing(collective, "lanes", shape, 24).messages, (kNodes - 1) * kRanks);
      EXPECT_EQ(crossing(collective, "lanes", shape, 24).elements, (kNodes - 1) * 24u);
    }
    for (const Collective collective : {Collective::kGather, Collective::kScatter}) {
      EXPECT_EQ(crossing(collective, "leader", shape, 24).messages, kNodes - 1);
      EXPECT_EQ(crossing(collective, "leader", shape, 24).elements, (kNodes - 1) * kRanks * 24u);
    }
  }
}

TEST(NodeTree, CrossesOnceForEachNodeAndSegment) {
  const Nodes nodes = Layout{std::vector(kNodes, kRanks), Order::kCyclic}.nodes();
  for (const uint32_t root : {0u, 9u}) {
    const Shape shape{.size = kSize, .root = root, .segments = 3, .nodes = &nodes};
    for (const Collective collective : {Collective::kReduce, Collective::kBroadcast}) {
      EXPECT_EQ(crossing(collective, "node_tree", shape, 24).messages, (kNodes - 1) * 3) << name(collective);
      EXPECT_EQ(crossing(collective, "node_tree", shape, 24).elements, (kNodes - 1) * 24u) << name(collective);
    }
  }
}

TEST(NodeExchange, TakesEachBlockOnceToEveryOtherNode) {
  for (const std::vector<uint32_t>& ranks_on : {std::vector(kNodes, kRanks), std::vector<uint32_t>{5, 1, 3}}) {
    const Nodes nodes = Layout{ranks_on, Order::kCyclic}.nodes();
    const Shape shape{.size = nodes.ranks(), .nodes = &nodes};
    const Crossing found = crossing(Collective::kAllgather, "node_exchange", shape, 7);
    EXPECT_EQ(found.messages, uint64_t{nodes.ranks()} * (nodes.count() - 1));
    EXPECT_EQ(found.elements, uint64_t{nodes.ranks()} * (nodes.count() - 1) * 7);
    EXPECT_EQ(found.by_rank.size(), nodes.ranks()) << "all cores take part";
  }
}

TEST(NodeTree, PassesASegmentOnWithinTheNodeWhileTheNextComesFromAnother) {
  constexpr uint32_t kSegments = 5;
  const Nodes nodes = Layout{std::vector(2, kRanks)}.nodes();
  const Shape shape{.size = 2 * kRanks, .segments = kSegments, .nodes = &nodes};
  const auto stages_of_both = [&](Collective collective, StepKind from_or_to_other, StepKind within) {
    uint32_t stages = 0;
    bool crosses = false;
    bool stays = false;
    const std::vector<Plan> plans = plans_of(*find(collective, "node_tree"), shape);
    for (const Step& step : plans[kRanks].steps) {  // of the other node's leader
      const bool is_within = nodes.together(kRanks, step.peer);
      crosses |= step.kind == from_or_to_other && !is_within;
      stays |= step.kind == within && is_within;
      if (!step.ends_stage) continue;
      stages += crosses && stays ? 1 : 0;
      crosses = stays = false;
    }
    return stages;
  };
  EXPECT_EQ(stages_of_both(Collective::kBroadcast, StepKind::kReceive, StepKind::kSend), kSegments - 1);
  EXPECT_EQ(stages_of_both(Collective::kReduce, StepKind::kSend, StepKind::kReceiveCombine), kSegments - 1);
}

TEST(ReductionsOverNodes, LeadersAloneTalkToOtherNodesAndAllDoByLanes) {
  const Nodes nodes = Layout{std::vector(kNodes, kRanks)}.nodes();
  const Shape shape{.size = kSize, .nodes = &nodes};
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kAllgather, Collective::kReduceScatterBlock}) {
    const Crossing by_leaders = crossing(collective, "leader", shape, 24);
    const Crossing by_lanes = crossing(collective, "lanes", shape, 24);
    EXPECT_EQ(by_leaders.by_rank.size(), kNodes) << name(collective);
    EXPECT_EQ(by_lanes.by_rank.size(), kSize) << name(collective);
    EXPECT_EQ(by_lanes.elements, by_leaders.elements) << name(collective);
  }
  EXPECT_EQ(crossing(Collective::kBarrier, "leader", shape, 0).messages, kNodes * 2) << "dissemination among leaders";
}

TEST(RootedOverNodes, TheRootLeadsItsOwnNode) {
  const Nodes nodes = Layout{{3, 4, 2}}.nodes();
  for (uint32_t root = 0; root < 9; ++root) {
    for (const Collective collective :
         {Collective::kReduce, Collective::kBroadcast, Collective::kGather, Collective::kScatter}) {
      const Shape shape{.size = 9, .root = root, .nodes = &nodes};
      for (const Plan& plan : plans_of(*find(collective, "leader"), shape)) {
        for (const Step& step : plan.steps) {
          const bool is_message = step.kind == StepKind::kSend || step.kind == StepKind::kReceive;
          if (!is_message || nodes.together(plan.shape.rank, step.peer)) continue;
          EXPECT_TRUE(nodes.node_of(plan.shape.rank) != nodes.node_of(root) || plan.shape.rank == root);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hocket::algorithms
