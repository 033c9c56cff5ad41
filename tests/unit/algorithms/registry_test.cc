// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include "algorithms/facts.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;
using schedule::Plan;
using schedule::Shape;
using schedule::Step;
using schedule::StepKind;

TEST(Registry, NamesEveryAlgorithmOnceAndFindsItByName) {
  std::set<std::string> names;
  for (const Algorithm* algorithm : all()) {
    EXPECT_TRUE(names.insert(test_name(*algorithm)).second) << test_name(*algorithm);
    EXPECT_EQ(find(algorithm->collective, algorithm->name), algorithm);
  }
  EXPECT_EQ(names.size(), all().size());
}

TEST(Registry, CallsEachAlgorithmByItsObjectsNameWithoutTheCollective) {
  std::vector<std::string> objects;
#define HOCKET_ALGORITHM(object) objects.emplace_back(#object);
#include "algorithms/algorithms.def"
  ASSERT_EQ(objects.size(), all().size());
  for (size_t i = 0; i < objects.size(); ++i) EXPECT_EQ(test_name(*all()[i]), objects[i]);
}

TEST(Registry, HasAnAlgorithmForEveryCollective) {
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const Collective collective = static_cast<Collective>(i);
    EXPECT_TRUE(std::any_of(all().begin(), all().end(), [&](const Algorithm* a) {
      return a->collective == schedule::base_of(collective) && (!schedule::is_vector(collective) || a->takes_vectors);
    })) << schedule::name(collective);
  }
}

TEST(Registry, FindsNothingUnderUnknownNames) {
  EXPECT_EQ(find(Collective::kBarrier, "ring"), nullptr);
  EXPECT_EQ(find(Collective::kBarrier, ""), nullptr);
}

TEST(Registry, FactsOfSmallPlansHoldForOthers) {
  for (const Algorithm* algorithm : all()) {
    SCOPED_TRACE(test_name(*algorithm));
    EXPECT_FALSE(algorithm->summary.empty());
    EXPECT_FALSE(algorithm->reference.empty());
    if (is_composition(*algorithm)) continue;
    const Facts facts = facts_of(*algorithm);
    for (const uint32_t size : {2u, 3u, 4u, 5u, 7u, 8u, 16u, 33u}) {
      if (size < algorithm->min_size || size > algorithm->max_size) continue;
      for (const uint32_t segments : {1u, 7u, 24u}) {
        if (segments != 1 && !algorithm->segmented) continue;
        for (const Plan& plan : plans_of(*algorithm, {.size = size, .segments = segments})) {
          EXPECT_LE(plan.slots, facts.uses_slots ? facts.slots : 0);
          EXPECT_LE(plan.uses_slots_or_counters, facts.uses_slots || facts.uses_counters);
          for (const schedule::Step& step : plan.steps) {
            EXPECT_LE(schedule::is_by_multicast(step.kind), facts.multicasts);
            EXPECT_LE(schedule::is_counter(step.kind), facts.uses_counters);
            EXPECT_LE(schedule::is_counter(step.kind) && step.peer == schedule::kShared, facts.shares_counters);
          }
        }
      }
    }
    if (!algorithm->segmented) continue;
    EXPECT_GT(make_plan(*algorithm, {.size = 5, .segments = 24}).steps.size(),
              make_plan(*algorithm, {.size = 5}).steps.size());
  }
}

TEST(Registry, FactsAreThoseOfThePlans) {
  const auto facts = [](Collective collective, const char* name) { return facts_of(*find(collective, name)); };
  EXPECT_EQ(facts(Collective::kBarrier, "dissemination"), Facts{});
  EXPECT_EQ(facts(Collective::kBarrier, "tree"), Facts{.uses_counters = true});
  EXPECT_EQ(facts(Collective::kBarrier, "signal"), (Facts{.uses_counters = true, .shares_counters = true}));
  EXPECT_EQ(facts(Collective::kBroadcast, "tree"), (Facts{.uses_slots = true, .uses_counters = true, .slots = 8}));
  EXPECT_EQ(facts(Collective::kBroadcast, "root_copies"),
            (Facts{.uses_slots = true, .uses_counters = true, .exposes_output = true, .slots = 8}));
  EXPECT_EQ(facts(Collective::kBroadcast, "node_tree"), Facts{.has_levels = true});
  EXPECT_EQ(facts(Collective::kBroadcast, "multicast"), Facts{.multicasts = true});
  EXPECT_EQ(facts(Collective::kAllreduce, "reduce_broadcast"),
            (Facts{.uses_slots = true, .uses_counters = true, .slots = 16}));
  EXPECT_EQ(facts(Collective::kScatter, "direct"), (Facts{.uses_slots = true, .slots = 8}));
  EXPECT_EQ(facts(Collective::kAllgather, "leader"), Facts{}) << "its parts have their own";
}

TEST(Registry, CompositionsNameTheirPartsAndLeaveSharedMemoryToThem) {
  for (const Algorithm* algorithm : all()) {
    SCOPED_TRACE(test_name(*algorithm));
    EXPECT_LE(algorithm->parts.size(), static_cast<size_t>(schedule::kMaxParts));
    std::set<std::string_view> names = {"degree", "segment", algorithm->degree_name};
    const size_t taken = names.size();
    for (const Part& part : algorithm->parts) names.insert(part.name);
    EXPECT_EQ(names.size(), taken + algorithm->parts.size());
    if (!is_composition(*algorithm)) continue;
    EXPECT_TRUE(runs_over_nodes(*algorithm));
    EXPECT_FALSE(algorithm->root_relative) << "nodes don't turn with the root";
    // Of blocks whose lengths ranks see for themselves alone, somebody must be told.
    const bool apart = algorithm->collective == Collective::kGather || algorithm->collective == Collective::kScatter ||
                       algorithm->collective == Collective::kAlltoall;
    EXPECT_EQ(algorithm->takes_vectors && apart, algorithm->passes_on != nullptr);
  }
}

// Groups of these are not turned to their root.
TEST(Registry, GathersAndScattersHeedTheRoot) {
  for (const Algorithm* algorithm : all()) {
    if (algorithm->collective != Collective::kGather && algorithm->collective != Collective::kScatter) continue;
    EXPECT_FALSE(algorithm->root_relative) << test_name(*algorithm);
  }
}

TEST(Registry, GivesEveryRankTheNumbersThatAllMustShare) {
  for (const Algorithm* algorithm : all()) {
    SCOPED_TRACE(test_name(*algorithm));
    for (const uint32_t size : {2u, 5u, 16u}) {
      const std::vector<Plan> plans = plans_of(*algorithm, {.size = size});
      for (const Plan& plan : plans) {
        EXPECT_EQ(plan.uses_slots_or_counters, plans[0].uses_slots_or_counters);
        EXPECT_TRUE(std::equal(plan.shared_total, plan.shared_total + schedule::kMaxCounters, plans[0].shared_total));
      }
    }
  }
}

TEST(MakePlan, TurnsRootRelativePlansToTheRoot) {
  const Algorithm& algorithm = *find(Collective::kBroadcast, "one_to_all");
  const Shape shape = {.size = 5, .rank = 1, .root = 3, .degree = 1};
  const Plan plan = make_plan(algorithm, shape);
  EXPECT_EQ(plan.shape, shape);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].kind, StepKind::kGet);
  EXPECT_EQ(plan.steps[0].peer, 3u);
}

TEST(MakePlan, LeavesSharedCountersAloneWhenTurning) {
  // No rooted algorithm needs one today; the barrier has one and stands in, declared root-relative.
  Algorithm algorithm = *find(Collective::kBarrier, "signal");
  algorithm.root_relative = true;
  for (const Step& step : make_plan(algorithm, {.size = 4, .rank = 1, .root = 2}).steps) {
    EXPECT_EQ(step.peer, schedule::kShared);
  }
}

TEST(MakePlan, ForwardsAnOrderedReductionFromRankZeroToTheRoot) {
  const Algorithm& algorithm = *find(Collective::kReduce, "tree");
  Shape shape = {.size = 6, .root = 4, .keep_order = true};
  const std::vector<Plan> plans = plans_of(algorithm, shape);
  EXPECT_EQ(plans[2].shape.root, 4u);
  const Step& last_of_zero = plans[0].steps.back();
  EXPECT_EQ(last_of_zero.kind, StepKind::kSend);
  EXPECT_EQ(last_of_zero.peer, 4u);
  const Step& last_of_root = plans[4].steps.back();
  EXPECT_EQ(last_of_root.kind, StepKind::kReceive);
  EXPECT_EQ(last_of_root.peer, 0u);
  EXPECT_EQ(last_of_root.destination.buffer, schedule::Buffer::kOutput);

  shape.keep_order = false;
  for (const Plan& plan : plans_of(algorithm, shape)) {
    for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::kSend);
  }
}

TEST(MakePlan, NeedsNoForwardingWhereEachPieceIsCombinedInRankOrder) {
  const Algorithm& algorithm = *find(Collective::kReduce, "pieces");
  for (const Plan& plan : plans_of(algorithm, {.size = 6, .root = 4, .keep_order = true})) {
    for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::kSend);
  }
}

}  // namespace
}  // namespace hocket::algorithms
