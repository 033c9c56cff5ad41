// SPDX-License-Identifier: BSD-3-Clause
// What the files of the algorithms and docs/algorithms.md say of steps, messages and bytes, counted.
#include <bit>

#include "algorithms/facts.h"
#include "algorithms/slot_ring.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;
using schedule::Plan;
using schedule::Report;
using schedule::Shape;

constexpr uint32_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 33};

uint32_t floor_log2(uint32_t value) { return static_cast<uint32_t>(std::bit_width(value)) - 1; }
uint32_t ceil_log2(uint32_t value) { return static_cast<uint32_t>(std::bit_width(value - 1)); }

// A message of `size` pieces of 4 elements a segment, so that all shares come out whole.
uint64_t count_for(const Shape& shape) { return uint64_t{4} * shape.size * shape.segments; }

Report facts(Collective collective, std::string_view name, const Shape& shape) {
  const Algorithm& algorithm = *find(collective, name);
  const uint64_t count = collective == Collective::kBarrier ? 0 : count_for(shape);
  Report report = schedule::verify(plans_of(algorithm, shape), {.count = count, .idempotent = true});
  EXPECT_TRUE(report.is_correct()) << report.text();
  return report;
}

uint32_t stages(const Plan& plan) {
  uint32_t stages = 0;
  for (const schedule::Step& step : plan.steps) stages += step.ends_stage ? 1 : 0;
  return stages;
}

TEST(BarrierOneToAll, SignalsTwicePerRankThroughRankZero) {
  for (const uint32_t size : kSizes) {
    const Report report = facts(Collective::kBarrier, "one_to_all", {.size = size});
    EXPECT_EQ(report.signals, 2 * (size - 1));
    EXPECT_EQ(report.messages, 0u);
  }
}

TEST(BarrierSignal, AddsOnceAndWaitsOnce) {
  for (const uint32_t size : kSizes) {
    const Report report = facts(Collective::kBarrier, "signal", {.size = size});
    EXPECT_EQ(report.signals, size == 1 ? 0 : size);
    EXPECT_EQ(make_plan(*find(Collective::kBarrier, "signal"), {.size = size}).steps.size(), size == 1 ? 0u : 2u);
  }
}

TEST(BarrierTree, SignalsTwicePerRankWhateverTheDegree) {
  for (const uint32_t size : kSizes) {
    for (const uint32_t degree : {1u, 2u, 3u, 4u, 8u}) {
      EXPECT_EQ(facts(Collective::kBarrier, "tree", {.size = size, .degree = degree}).signals, 2 * (size - 1));
    }
  }
}

TEST(BarrierPairwiseExchange, TakesTwoStepsMoreOffPowersOfTwo) {
  const Algorithm& algorithm = *find(Collective::kBarrier, "pairwise_exchange");
  for (const uint32_t size : kSizes) {
    const uint32_t vertices = std::bit_floor(size);
    const uint32_t extra_steps = vertices == size ? 0 : 2;
    const Report report = facts(Collective::kBarrier, "pairwise_exchange", {.size = size});
    EXPECT_EQ(report.messages, vertices * floor_log2(size) + 2 * (size - vertices));
    uint32_t most = 0;
    for (const Plan& plan : plans_of(algorithm, {.size = size})) most = std::max(most, stages(plan));
    EXPECT_EQ(most, floor_log2(size) + extra_steps) << size;
  }
}

TEST(BarrierDissemination, TakesTheLogarithmOfTheSizeRoundedUp) {
  const Algorithm& algorithm = *find(Collective::kBarrier, "dissemination");
  for (const uint32_t size : kSizes) {
    for (const Plan& plan : plans_of(algorithm, {.size = size})) EXPECT_EQ(stages(plan), ceil_log2(size));
    EXPECT_EQ(facts(Collective::kBarrier, "dissemination", {.size = size}).messages, size * ceil_log2(size));
  }
}

TEST(Broadcast, MovesTheMessageToEveryRankWithEveryAlgorithm) {
  for (const Algorithm* algorithm : all()) {
    if (algorithm->collective != Collective::kBroadcast) continue;
    for (const uint32_t size : kSizes) {
      const Shape shape = {.size = size, .segments = algorithm->segmented ? 3u : 1u};
      EXPECT_GE(facts(Collective::kBroadcast, algorithm->name, shape).elements_moved, (size - 1) * count_for(shape))
          << algorithm->name << " " << size;
    }
  }
}

TEST(Broadcast, MovesItOncePerRankWhereNothingIsScatteredFirst) {
  for (const char* name : {"tree_mm", "one_to_all", "root_copies", "pieces", "tree", "pipeline", "node_tree",
                           "multicast", "leader", "lanes"}) {
    const Algorithm& algorithm = *find(Collective::kBroadcast, name);
    for (const uint32_t size : kSizes) {
      const Shape shape = {.size = size, .segments = algorithm.segmented ? 3u : 1u};
      EXPECT_EQ(facts(Collective::kBroadcast, name, shape).elements_moved,
                (size - 1 + (facts_of(algorithm).multicasts && size > 1)) * count_for(shape))
          << name << " " << size;
    }
  }
}

TEST(BroadcastMulticast, TakesOneStepWhateverTheNumberOfRanksAndSparesTheRootsPredecessor) {
  for (const uint32_t size : {2u, 3u, 16u, 116u}) {
    const Report report = facts(Collective::kBroadcast, "multicast", {.size = size});
    EXPECT_EQ(report.multicasts, 1u);
    EXPECT_EQ(report.messages, size - 1);
    EXPECT_LE(report.critical_path, 3u) << size;  // the multicast, its arrival, and passing it on
  }
}

TEST(BarrierLinear, IsOneStageOfMessages) {
  const Algorithm& algorithm = *find(Collective::kBarrier, "linear");
  for (const uint32_t size : kSizes) {
    for (const Plan& plan : plans_of(algorithm, {.size = size})) EXPECT_EQ(stages(plan), size == 1 ? 0u : 1u);
    EXPECT_EQ(facts(Collective::kBarrier, "linear", {.size = size}).messages, size * (size - 1));
  }
}

TEST(BroadcastOneToAll, IsOneScheduleRoundAndOneMessagePerRank) {
  for (const uint32_t size : {2u, 8u, 33u}) {
    const Report report = facts(Collective::kBroadcast, "one_to_all", {.size = size});
    EXPECT_EQ(report.messages, size - 1);
    EXPECT_EQ(report.signals, 0u);
    EXPECT_EQ(report.critical_path, 2u);
  }
}

TEST(BroadcastOneToAll, ShiftsWhereEachRankBegins) {
  const Algorithm& algorithm = *find(Collective::kBroadcast, "one_to_all");
  const Plan plan = make_plan(algorithm, {.size = 8, .rank = 6, .degree = 4});
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(schedule::resolve(plan.steps[0].destination, 40).offset, 20u);  // part 6 mod 4 of 4
  EXPECT_EQ(schedule::resolve(plan.steps[1].destination, 40).offset, 0u);
  EXPECT_EQ(schedule::resolve(plan.steps[1].destination, 40).length, 20u);
}

TEST(BroadcastPieces, ReadsTwoPiecesPerRankFromTheRoot) {
  const Algorithm& algorithm = *find(Collective::kBroadcast, "pieces");
  const Plan plan = make_plan(algorithm, {.size = 8, .rank = 5});
  uint64_t from_root = 0;
  for (const schedule::Step& step : plan.steps) {
    if (step.kind == schedule::StepKind::kGet && step.peer == 0) {
      from_root += schedule::resolve(step.destination, 80).length;
    }
  }
  EXPECT_EQ(from_root, 20u);
}

TEST(BroadcastPipeline, DelaysEachRankByOneSegment) {
  // Per hop and per further segment: a get and a publication.
  for (const uint32_t size : {2u, 5u, 9u}) {
    const uint32_t one = facts(Collective::kBroadcast, "pipeline", {.size = size, .segments = 1}).critical_path;
    const uint32_t eight = facts(Collective::kBroadcast, "pipeline", {.size = size, .segments = 8}).critical_path;
    EXPECT_EQ(one, 2 * (size - 1));
    EXPECT_LE(eight, 2 * (size - 1 + 7));
  }
}

TEST(Reduce, MovesEachOperandOnceInTreesAndTheResultOnceMoreInPieces) {
  for (const Algorithm* algorithm : all()) {
    if (algorithm->collective != Collective::kReduce) continue;
    for (const uint32_t size : kSizes) {
      const Shape shape = {.size = size, .segments = 3};
      const uint64_t count = count_for(shape);
      const bool in_pieces = algorithm->name == "pieces" || algorithm->name == "lanes";
      const uint64_t collected = in_pieces ? count / size * (size - 1) : 0;
      EXPECT_EQ(facts(Collective::kReduce, algorithm->name, shape).elements_moved, (size - 1) * count + collected)
          << algorithm->name << " " << size;
    }
  }
}

TEST(ReduceTree, IsOneScheduleRoundWhenFlat) {
  const Report report = facts(Collective::kReduce, "tree", {.size = 9, .degree = 0xffffffffu});
  EXPECT_EQ(report.messages, 8u);
  EXPECT_EQ(report.signals, 0u);
  EXPECT_EQ(report.critical_path, 1u + 8);  // a publication, and eight combinations one after the other
}

TEST(AllreduceDirect, ReadsEveryOperandOnEveryRankWithoutAnyAcknowledgement) {
  for (const uint32_t segments : {1u, 20u}) {
    for (const uint32_t size : kSizes) {
      const Shape shape = {.size = size, .segments = segments};
      const Report report = facts(Collective::kAllreduce, "direct", shape);
      EXPECT_EQ(report.elements_moved, size * (size - 1) * count_for(shape));
      EXPECT_EQ(report.signals, 0u);
    }
  }
}

TEST(AllreduceRecursiveDoubling, ExchangesTheWholeMessageInEveryDimension) {
  for (const uint32_t size : kSizes) {
    const uint32_t vertices = std::bit_floor(size);
    const Report report = facts(Collective::kAllreduce, "recursive_doubling", {.size = size});
    const uint64_t messages = vertices * floor_log2(size) + 2 * (size - vertices);
    EXPECT_EQ(report.messages, messages);
    EXPECT_EQ(report.elements_moved, messages * count_for({.size = size}));
  }
}

TEST(AllreduceLinear, SendsEveryOperandToEveryRankAtOnce) {
  for (const uint32_t size : {2u, 3u, 8u, 16u}) {
    const Report report = facts(Collective::kAllreduce, "linear", {.size = size});
    EXPECT_EQ(report.messages, size * (size - 1));
    EXPECT_EQ(report.elements_moved, size * (size - 1) * count_for({.size = size}));
  }
}

TEST(AllreduceReduceScatterAllgather, MovesTwiceTheMessagePerRankAtMost) {
  for (const uint32_t size : {2u, 4u, 8u, 16u, 32u}) {
    const Report report = facts(Collective::kAllreduce, "reduce_scatter_allgather", {.size = size});
    EXPECT_EQ(report.messages, 2 * size * floor_log2(size));
    EXPECT_EQ(report.elements_moved, 2 * (size - 1) * count_for({.size = size}));
  }
}

TEST(AllreduceRing, MovesTwiceTheMessagePerRankAtMostAtEverySize) {
  for (const uint32_t size : kSizes) {
    const Report report = facts(Collective::kAllreduce, "ring", {.size = size});
    EXPECT_EQ(report.messages, 2 * size * (size - 1));
    EXPECT_EQ(report.elements_moved, 2 * (size - 1) * count_for({.size = size}));
  }
}

TEST(AllreducePieces, ReadsTwiceTheMessagePerRankAtMostWithoutAnyAcknowledgement) {
  for (const uint32_t size : kSizes) {
    const Shape shape = {.size = size, .segments = 20};
    const Report report = facts(Collective::kAllreduce, "pieces", shape);
    EXPECT_EQ(report.elements_moved, 2 * (size - 1) * count_for(shape));
    EXPECT_EQ(report.signals, 0u);
  }
}

TEST(AllgatherDirect, ReadsEveryBlockOnEveryRankWithoutAnyAcknowledgement) {
  for (const uint32_t segments : {1u, 20u}) {
    const Shape shape = {.size = 7, .segments = segments};
    const Report report = facts(Collective::kAllgather, "direct", shape);
    EXPECT_EQ(report.elements_moved, 7u * 6 * count_for(shape));
    EXPECT_EQ(report.signals, 0u);
  }
}

// Of collectives with a block a rank, count_for() is one block.
void expect_moved(Collective collective, std::string_view name, uint32_t size, uint64_t messages, uint64_t blocks) {
  const Shape shape = {.size = size};
  const Report report = facts(collective, name, shape);
  EXPECT_EQ(report.messages, messages) << schedule::name(collective) << " " << name << " " << size;
  EXPECT_EQ(report.elements_moved, blocks * count_for(shape))
      << schedule::name(collective) << " " << name << " " << size;
}

TEST(GatherAndScatter, MoveEveryBlockOnceWhereNoTreeIsClimbed) {
  for (const uint32_t size : kSizes) {
    for (const Collective collective : {Collective::kGather, Collective::kScatter}) {
      for (const char* name : {"linear", "direct"}) expect_moved(collective, name, size, size - 1, size - 1);
    }
  }
}

TEST(GatherAndScatter, SendASubtreesBlocksAtOnceUpAndDownTheTree) {
  for (const uint32_t size : {2u, 4u, 8u, 16u, 32u}) {
    const uint64_t blocks = uint64_t{size} / 2 * floor_log2(size);
    expect_moved(Collective::kGather, "binomial", size, size - 1, blocks);
    expect_moved(Collective::kScatter, "binomial", size, size - 1, blocks);
  }
}

TEST(Allgather, MovesEveryBlockToEveryRankOnceInAsManyStepsAsTheAlgorithmSays) {
  for (const uint32_t size : kSizes) {
    const uint64_t blocks = uint64_t{size} * (size - 1);
    expect_moved(Collective::kAllgather, "ring", size, blocks, blocks);
    expect_moved(Collective::kAllgather, "bruck", size, uint64_t{size} * ceil_log2(size), blocks);
    expect_moved(Collective::kAllgather, "linear", size, blocks, blocks);
  }
  for (const uint32_t size : {2u, 4u, 8u, 16u, 32u}) {
    expect_moved(Collective::kAllgather, "recursive_doubling", size, size * floor_log2(size),
                 uint64_t{size} * (size - 1));
  }
}

TEST(AllgatherMulticast, SendsEachBlockOnceByMulticastAndOffersItAroundARing) {
  for (const uint32_t size : kSizes) {
    for (const uint32_t chains : {0u, 1u, 3u}) {
      const Shape shape = {.size = size, .degree = chains};
      const Report report = facts(Collective::kAllgather, "multicast", shape);
      const uint64_t blocks = uint64_t{size} * (size - 1);
      EXPECT_EQ(report.multicasts, size == 1 ? 0 : size) << size;
      EXPECT_EQ(report.messages, blocks) << size;
      EXPECT_EQ(report.elements_moved, (blocks + report.multicasts) * count_for(shape)) << size;
    }
  }
}

// As many ranks as there are chains wait for no other one before they multicast, and say how many they are.
TEST(AllgatherMulticast, BeginsAsManyChainsAsAreAskedFor) {
  const Algorithm& algorithm = *find(Collective::kAllgather, "multicast");
  for (const uint32_t size : {2u, 7u, 16u, 64u}) {
    for (const uint32_t asked : {0u, 1u, 3u, 5u, 100u}) {
      uint32_t begin = 0;
      const uint32_t chains = asked == 0 || asked >= size - 1 ? size : asked;
      for (const Plan& plan : plans_of(algorithm, {.size = size, .degree = asked})) {
        for (const schedule::Step& step : plan.steps) {
          if (step.kind == schedule::StepKind::kFirstOf) break;
          if (step.kind != schedule::StepKind::kMulticast) continue;
          EXPECT_EQ(step.value, chains);
          ++begin;
        }
      }
      EXPECT_EQ(begin, chains) << size << " ranks, " << asked << " chains";
    }
  }
}

TEST(Alltoall, MovesEveryBlockOnceUnlessItTravelsByDigits) {
  for (const uint32_t size : kSizes) {
    const uint64_t blocks = uint64_t{size} * (size - 1);
    for (const char* name : {"linear", "pairwise", "direct"}) {
      expect_moved(Collective::kAlltoall, name, size, blocks, blocks);
    }
  }
  for (const uint32_t size : {2u, 4u, 8u, 16u, 32u}) {
    const uint64_t messages = uint64_t{size} * floor_log2(size);
    expect_moved(Collective::kAlltoall, "bruck", size, messages, messages * size / 2);
  }
}

TEST(AlltoallBruck, TakesOneRoundForEachDigitOfTheSize) {
  const Algorithm& algorithm = *find(Collective::kAlltoall, "bruck");
  const auto rounds = [&](uint32_t size, uint32_t radix) {
    uint32_t rounds = 0;
    bool sends = false;
    for (const schedule::Step& step : make_plan(algorithm, {.size = size, .degree = radix}).steps) {
      sends |= step.kind == schedule::StepKind::kSend;
      if (!step.ends_stage) continue;
      rounds += sends ? 1 : 0;
      sends = false;
    }
    return rounds;
  };
  EXPECT_EQ(rounds(16, 2), 4u);
  EXPECT_EQ(rounds(16, 4), 2u);
  EXPECT_EQ(rounds(17, 4), 3u);
  EXPECT_EQ(rounds(16, 16), 1u);
}

TEST(ReduceScatterBlock, MovesEachOperandOnce) {
  for (const uint32_t size : kSizes) {
    const uint64_t blocks = uint64_t{size} * (size - 1);
    for (const char* name : {"linear", "direct", "ring"}) {
      expect_moved(Collective::kReduceScatterBlock, name, size, blocks, blocks);
    }
  }
  for (const uint32_t size : {2u, 4u, 8u, 16u, 32u}) {
    expect_moved(Collective::kReduceScatterBlock, "recursive_halving", size, size * floor_log2(size),
                 uint64_t{size} * (size - 1));
  }
}

TEST(Scans, TakeAChainOrTheLogarithmOfTheSize) {
  for (const Collective collective : {Collective::kScan, Collective::kExscan}) {
    for (const uint32_t size : kSizes) {
      uint64_t doubling = 0;
      for (uint32_t distance = 1; distance < size; distance *= 2) doubling += size - distance;
      expect_moved(collective, "linear", size, size - 1, size - 1);
      expect_moved(collective, "recursive_doubling", size, doubling, doubling);
      const uint64_t direct = uint64_t{size} * (size - 1) / 2;
      expect_moved(collective, "direct", size, direct, direct);
    }
  }
}

TEST(SlotRing, AcknowledgesOnlyHalvesThatAreUsedAgain) {
  const auto signals = [](uint32_t segments) {
    return facts(Collective::kBroadcast, "one_to_all", {.size = 6, .segments = segments}).signals;
  };
  EXPECT_EQ(signals(kRingSlots), 0u);
  EXPECT_EQ(signals(kRingSlots + 1), 5u);
  EXPECT_EQ(signals(kRingSlots + kRingSlots / 2), 5u);
  EXPECT_EQ(signals(kRingSlots + kRingSlots / 2 + 1), 10u);
}

}  // namespace
}  // namespace hocket::algorithms
