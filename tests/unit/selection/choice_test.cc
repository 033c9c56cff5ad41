// SPDX-License-Identifier: BSD-3-Clause
#include "selection/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algorithms/facts.h"
#include "selection/cost_model.h"
#include "selection/parsed_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;

Query allreduce(uint64_t bytes, uint32_t ranks, bool oversubscribed = false) {
  return {.collective = Collective::kAllreduce,
          .bytes = bytes,
          .ranks = ranks,
          .oversubscribed = oversubscribed,
          .element_bytes = 8};
}

std::string chosen(const Query& query, const Table& table) {
  Result<Choice> choice = choose(query, table);
  return choice.is_ok() ? std::string(choice.value().algorithm->name) : choice.status().message();
}

Spec spec_of(Collective collective, const char* text) {
  Result<Spec> spec = parse_spec(collective, text);
  EXPECT_TRUE(spec.is_ok()) << spec.status().message();
  return spec.take();
}

TEST(Choice, TakesTheFirstRuleWhoseConditionsHold) {
  const Table table = parsed_table(
      "allreduce ranks=5..8 crowded bytes=..4K recursive_doubling\n"
      "allreduce uncrowded bytes=..64 direct\n"
      "allreduce ring\n");
  EXPECT_EQ(chosen(allreduce(4096, 5, true), table), "recursive_doubling");
  EXPECT_EQ(chosen(allreduce(4104, 5, true), table), "ring");
  EXPECT_EQ(chosen(allreduce(8, 9, true), table), "ring");
  EXPECT_EQ(chosen(allreduce(8, 4, true), table), "ring");
  EXPECT_EQ(chosen(allreduce(64, 5, false), table), "direct");
  EXPECT_EQ(choose(allreduce(64, 5, false), table).value().reason, "test, line 3");
}

TEST(Choice, PassesOverRulesThatCannotServeAndSaysSo) {
  const Table table = parsed_table("allreduce ring\nallreduce direct\n");
  Query query = allreduce(8, 4);
  query.commutative = false;
  ASSERT_FALSE(spec_of(Collective::kAllreduce, "ring").algorithm->can_keep_order);
  Result<Choice> choice = choose(query, table);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  EXPECT_TRUE(choice.value().algorithm->can_keep_order);
  const std::string text = explain(query, table);
  EXPECT_NE(text.find("refused   line 2, ring: it combines operands in any order"), std::string::npos) << text;
}

TEST(Choice, WhereNoRuleFitsTakesWhatTheModelPrefers) {
  const Table table = parsed_table("model alpha_us=0.1 beta_us_per_kib=0.02\n");
  for (const Query& query : {allreduce(8, 16, true), allreduce(1 << 20, 16)}) {
    Result<Choice> choice = choose(query, table);
    ASSERT_TRUE(choice.is_ok()) << choice.status().message();
    EXPECT_NE(choice.value().reason.find("no line of the test fits"), std::string::npos) << choice.value().reason;
    EXPECT_EQ(choice.value().algorithm, predict(query, table).front().spec.algorithm);
  }
  EXPECT_NE(choose(allreduce(1 << 20, 16), table).value().algorithm->name, "direct") << "it moves everything to all";
}

TEST(Choice, TheModelNeverTakesWhatCannotServe) {
  Query query = allreduce(1 << 20, 16);
  query.commutative = false;
  Result<Choice> choice = choose(query, parsed_table(""));
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  EXPECT_TRUE(choice.value().algorithm->can_keep_order);
}

TEST(Choice, ARuleIsObeyedWhateverTheModelSays) {
  EXPECT_EQ(chosen(allreduce(8, 16), parsed_table("allreduce ring\n")), "ring");
}

TEST(Choice, ForcingOverridesTheTable) {
  const Spec forced = spec_of(Collective::kAllreduce, "ring");
  Result<Choice> choice = choose(allreduce(8, 4), parsed_table("allreduce direct\n"), &forced);
  ASSERT_TRUE(choice.is_ok());
  EXPECT_EQ(choice.value().algorithm->name, "ring");
  EXPECT_EQ(choice.value().reason, "forced");
}

TEST(Choice, AForcedSpecThatCannotBeHonouredIsAnErrorWithTheReason) {
  const Spec ring = spec_of(Collective::kAllreduce, "ring");
  Query query = allreduce(8, 4);
  query.commutative = false;
  Result<Choice> choice = choose(query, Table::shipped(), &ring);
  ASSERT_FALSE(choice.is_ok());
  EXPECT_EQ(choice.status().code(), Code::kInvalidArgument);
  EXPECT_NE(std::string(choice.status().message()).find("forced ring"), std::string::npos);
  EXPECT_NE(std::string(choice.status().message()).find("does not commute"), std::string::npos);

  const Spec long_segments = spec_of(Collective::kReduce, "tree:segment=1M");
  if (algorithms::facts_of(*long_segments.algorithm).uses_slots) {
    const Query reduce{.collective = Collective::kReduce, .bytes = 8, .ranks = 4, .element_bytes = 8};
    EXPECT_FALSE(choose(reduce, Table::shipped(), &long_segments).is_ok());
  }
  // An algorithm of another collective, as a caller could hand it over by mistake.
  const Spec barrier = spec_of(Collective::kBarrier, "dissemination");
  EXPECT_FALSE(choose(allreduce(8, 4), Table::shipped(), &barrier).is_ok());
}

TEST(Choice, RefusesAlgorithmsThatLoseTheOrderOfTheOperands) {
  Query query{.collective = Collective::kReduce, .bytes = 64, .ranks = 5, .commutative = false, .element_bytes = 8};
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithms::facts_of(*algorithm).multicasts) continue;  // of several nodes
    query.collective = algorithm->collective;
    const bool combines = schedule::combines(query.collective);
    EXPECT_EQ(why_not(query, Spec{algorithm}).empty(), algorithm->can_keep_order || !combines)
        << name(query.collective) << " " << algorithm->name;
  }
}

TEST(Choice, AFlatTreeHasEveryOtherRankAsAChild) {
  const Spec flat = spec_of(Collective::kReduce, "tree:degree=flat");
  for (uint32_t ranks : {1u, 2u, 17u, 128u}) {
    const Query query{.collective = Collective::kReduce, .bytes = 8, .ranks = ranks, .element_bytes = 8};
    Result<Choice> choice = choose(query, Table::shipped(), &flat);
    ASSERT_TRUE(choice.is_ok()) << choice.status().message();
    EXPECT_GE(choice.value().degree + 1, ranks);
    EXPECT_GE(choice.value().degree, 1u);
  }
}

// Whatever is chosen, the promises of choice.h hold: enough calls, few enough segments, none too long for a slot.
TEST(Choice, KeepsItsPromisesOnRandomQueries) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 20000; ++round) {
    const auto algorithms = algorithms::all();
    Spec spec{algorithms[below(algorithms.size())]};
    // Their parts are chosen too, which takes long where everything is new.
    if (algorithms::is_composition(*spec.algorithm) && round % 64 != 0) continue;
    if (spec.algorithm->segmented && below(2) == 0) spec.segment_bytes = 1 + below(100000);
    Query query{.collective = spec.algorithm->collective,
                .bytes = 0,
                .ranks = 1 + static_cast<uint32_t>(below(130)),
                .oversubscribed = below(2) == 0,
                .element_bytes = 1 + static_cast<uint32_t>(below(below(2) == 0 ? 16 : 100000)),
                .slot_bytes = 1ull << below(20),
                .max_segments = 1 + static_cast<uint32_t>(below(300))};
    query.bytes = query.element_bytes * below(1ull << below(33));
    const uint64_t count = query.bytes / query.element_bytes;
    Result<Choice> result = choose(query, Table::shipped(), &spec);
    EXPECT_EQ(result.is_ok(), why_not(query, spec).empty());
    if (!result.is_ok()) continue;
    const Choice& choice = result.value();
    ASSERT_GE(choice.segments, 1u);
    ASSERT_LE(choice.segments, query.max_segments);
    ASSERT_GE(choice.calls, 1u);
    ASSERT_GE(choice.calls * choice.chunk_elements, count);
    if (count > 0) {
      ASSERT_LT((choice.calls - 1) * choice.chunk_elements, count) << "an empty call";
    }
    const uint64_t longest = (choice.chunk_elements + choice.segments - 1) / choice.segments * query.element_bytes;
    ASSERT_EQ(longest, choice.segment_bytes);
    if (algorithms::facts_of(*choice.algorithm).uses_slots) {
      ASSERT_LE(longest, query.slot_bytes);
    }
    if (!choice.algorithm->segmented) {
      ASSERT_EQ(choice.segments, 1u);
    }
    if (spec.segment_bytes >= query.element_bytes) {
      ASSERT_LE(longest, spec.segment_bytes);
    }
  }
}

TEST(Explain, NamesTheRuleTheNumbersAndTheRunnerUp) {
  const Table table = parsed_table(
      "allreduce bytes=..64 direct us=2 next=ring next_us=5  # on the test's machine\n"
      "allreduce ring\n");
  const std::string text = explain(allreduce(8, 8, true), table);
  EXPECT_NE(text.find("allreduce of 8 bytes on 8 ranks, more ranks than cores"), std::string::npos) << text;
  EXPECT_NE(text.find("test, line 2: allreduce bytes=..64 direct"), std::string::npos) << text;
  EXPECT_NE(text.find("2 us; the runner-up ring 5 us (2.5 times as long)"), std::string::npos) << text;
  EXPECT_NE(text.find("on the test's machine"), std::string::npos) << text;
  EXPECT_NE(text.find("line 3: allreduce ring"), std::string::npos) << text;
}

TEST(Explain, SaysOfARunnerUpThatTakesTheSameTimeThatItTakesAsLong) {
  const std::string text =
      explain(allreduce(8, 8, true), parsed_table("allreduce direct us=13 next=ring next_us=13\n"));
  EXPECT_NE(text.find("13 us; the runner-up ring 13 us (as long)"), std::string::npos) << text;
}

TEST(Explain, SaysWhereTimesWereMeasuredAndPredictsThoseOfAnotherCall) {
  const Table table = parsed_table(
      "model cores=2 alpha_us=0.25\n"
      "broadcast one_to_all us=5.04 next=one_to_all:degree=4 next_us=5.13  # at 4K, 8 ranks\n"
      "barrier signal us=6 # at 8 ranks\n");
  const auto broadcast = [&](uint64_t bytes, uint32_t ranks) {
    return explain({.collective = Collective::kBroadcast, .bytes = bytes, .ranks = ranks, .oversubscribed = true},
                   table);
  };
  const std::string measured =
      "  measured  at 4K bytes, 8 ranks: 5.04 us; the runner-up one_to_all:degree=4 5.13 us (1.02 times as long)\n";
  const std::string same = broadcast(4096, 8);
  EXPECT_NE(same.find(measured), std::string::npos) << same;
  EXPECT_EQ(same.find("predicted"), std::string::npos) << same;
  EXPECT_EQ(same.find("  note"), std::string::npos) << same;
  const std::string longer = broadcast(64 << 20, 8);
  EXPECT_NE(longer.find(measured + "  predicted for 64M bytes, 8 ranks: "), std::string::npos) << longer;
  EXPECT_EQ(longer.find("e+0"), std::string::npos) << longer;
  // What the table chooses need not be what the model would.
  const std::string worse =
      explain(allreduce(8, 8, true), parsed_table("model cores=2\nallreduce ring us=1 # at 8, 2 ranks\n"));
  EXPECT_NE(worse.find("; less with "), std::string::npos) << worse;
  EXPECT_NE(broadcast(4096, 2).find("predicted for 4K bytes, 2 ranks: "), std::string::npos);
  const auto barrier = [&](uint32_t ranks) {
    return explain({.collective = Collective::kBarrier, .ranks = ranks, .oversubscribed = true}, table);
  };
  EXPECT_NE(barrier(8).find("measured  at 8 ranks: 6 us\n"), std::string::npos) << barrier(8);
  EXPECT_EQ(barrier(8).find("predicted"), std::string::npos) << barrier(8);
  EXPECT_NE(barrier(3).find("predicted for 3 ranks: "), std::string::npos) << barrier(3);
}

TEST(Explain, OverNodesSaysOnHowManyAndWhatTheInterfaceIs) {
  const Table table = parsed_table(
      "model cores=2 wire_alpha_us=12.5 wire_lanes=3\n"
      "alltoall nodes=2 ppn=..2 linear us=9.5 next=bruck next_us=19 # at 4K, 2x2 ranks\n");
  const std::vector<uint64_t> labels = {0, 0, 1, 1};
  const schedule::Nodes nodes(labels);
  Query query{.collective = Collective::kAlltoall, .bytes = 4096, .ranks = 4, .nodes = &nodes};
  const std::string measured =
      "  measured  at 4K bytes, 2x2 ranks: 9.5 us; the runner-up bruck 19 us (2 times as long)\n";
  const std::string same = explain(query, table);
  EXPECT_NE(same.find(measured), std::string::npos) << same;
  EXPECT_EQ(same.find("predicted"), std::string::npos) << same;
  query.bytes = 64;
  const std::string shorter = explain(query, table);
  EXPECT_NE(shorter.find(measured + "  predicted for 64 bytes, 2x2 ranks: "), std::string::npos) << shorter;
  EXPECT_NE(shorter.find("\n  wire      alpha 12.5 us"), std::string::npos) << shorter;
  EXPECT_NE(shorter.find("3 lanes"), std::string::npos) << shorter;
}

TEST(Explain, NotesThatNameNoPlaceStayNotes) {
  for (const char* note : {"at", "at ranks", "at  ranks", "at home", "at 4K ranks and more", "at 4X, 8 ranks",
                           "at 4K,8 ranks", "at 4K, many ranks", "at , ranks", "8 ranks"}) {
    const Table table = parsed_table("model cores=2\nbarrier signal us=6 # " + std::string(note) + "\n");
    const std::string text = explain({.collective = Collective::kBarrier, .ranks = 3}, table);
    EXPECT_NE(text.find("measured  6 us\n  note      " + std::string(note) + "\n"), std::string::npos) << text;
  }
}

TEST(Explain, SaysHowAnotherAlgorithmCanBeHad) {
  const std::string text = explain(allreduce(8, 8, true), parsed_table("allreduce ring\n"));
  const size_t possible = text.find("  possible  also ");
  ASSERT_NE(possible, std::string::npos) << text;
  const size_t first = possible + std::string("  possible  also ").size();
  const std::string name = text.substr(first, text.find(',', first) - first);
  EXPECT_NE(text.find("(HOCKET_ALLREDUCE=" + name + ")\n"), std::string::npos) << text;
}

TEST(Explain, NamesPredictedTimesWhereNothingWasMeasured) {
  const Table table = parsed_table("model cores=2 alpha_us=0.25\nbarrier ranks=2 signal\n");
  const std::string text = explain(allreduce(8, 8, true), table);
  EXPECT_NE(text.find("no line of the test fits, and the model predicts the lowest time"), std::string::npos) << text;
  EXPECT_NE(text.find("predicted "), std::string::npos) << text;
  EXPECT_NE(text.find("the runner-up "), std::string::npos) << text;
  EXPECT_NE(text.find("alpha 0.25 us"), std::string::npos) << text;
  EXPECT_NE(text.find("(test, line 2)"), std::string::npos) << text;
  const std::string by_rule = explain({.collective = Collective::kBarrier, .ranks = 2}, table);
  EXPECT_NE(by_rule.find("test, line 3"), std::string::npos) << by_rule;
  EXPECT_NE(by_rule.find("predicted "), std::string::npos) << by_rule;
  // A rule that leaves the degree to the algorithm, too.
  const std::string by_default =
      explain({.collective = Collective::kBroadcast, .bytes = 8, .ranks = 4}, parsed_table("broadcast one_to_all\n"));
  EXPECT_NE(by_default.find("predicted "), std::string::npos) << by_default;
}

TEST(Explain, SaysWhatStandsInTheWayOfAForcedChoice) {
  const Spec ring = spec_of(Collective::kAllreduce, "ring");
  Query query = allreduce(8, 4);
  query.commutative = false;
  const std::string text = explain(query, Table::shipped(), &ring);
  EXPECT_NE(text.find("runs      nothing"), std::string::npos) << text;
  EXPECT_NE(text.find("does not commute"), std::string::npos) << text;
}

TEST(Explain, AgreesWithTheChoice) {
  for (int collective = 0; collective < schedule::kCollectives; ++collective)
    for (uint64_t bytes : {8ull, 100000ull, 1ull << 26})
      for (uint32_t ranks : {1u, 2u, 16u}) {
        const Query query{
            .collective = static_cast<Collective>(collective), .bytes = bytes, .ranks = ranks, .element_bytes = 8};
        Result<Choice> choice = choose(query, Table::shipped());
        const std::string text = explain(query, Table::shipped());
        const std::string expected =
            choice.is_ok() ? "runs      " + std::string(choice.value().algorithm->name) : "runs      nothing";
        EXPECT_NE(text.find(expected), std::string::npos) << text;
      }
}

}  // namespace
}  // namespace hocket::selection
