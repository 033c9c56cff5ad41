// SPDX-License-Identifier: BSD-3-Clause
#include "tune/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "selection/choice.h"

namespace hocket::command {
namespace {

using schedule::Collective;
using selection::Rule;

MeasuredCell allreduce(uint32_t ranks, uint64_t bytes, Times times, bool oversubscribed = true) {
  return {Collective::kAllreduce, ranks, oversubscribed, bytes, std::move(times)};
}

std::vector<Rule> rules_for(const std::vector<MeasuredCell>& cells) {
  Result<std::vector<Rule>> rules = make_rules(cells);
  EXPECT_TRUE(rules.is_ok()) << rules.status().message();
  return rules.is_ok() ? rules.take() : std::vector<Rule>();
}

std::vector<std::string> lines_for(const std::vector<Rule>& rules) {
  std::vector<std::string> lines;
  for (const Rule& rule : rules) lines.push_back(selection::to_text(rule));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(TuneRules, OneWinnerForAllSizesIsOneRule) {
  const auto rules = rules_for({allreduce(4, 8, {{"direct", 1}, {"ring", 3}}), allreduce(4, 64, {{"direct", 2}})});
  EXPECT_EQ(lines_for(rules), (Lines{"allreduce ranks=..15 crowded direct"}));
}

TEST(TuneRules, LeaveToTheMpiWhatItIsClearlyBetterAt) {
  const std::vector<MeasuredCell> cells = {allreduce(4, 8, {{"mpi", 1}, {"direct", 3}, {"ring", 2}}),
                                           allreduce(4, 64, {{"mpi", 2}, {"direct", 2.05}}),
                                           allreduce(4, 512, {{"mpi", 5}, {"direct", 3}})};
  Result<std::vector<Rule>> mpis = make_rules_of_mpi(cells, kNoise, "openmpi");
  ASSERT_TRUE(mpis.is_ok()) << mpis.status().message();
  EXPECT_EQ(lines_for(mpis.value()), (Lines{"allreduce ranks=..15 wire=openmpi crowded bytes=..63 mpi"}));
  EXPECT_EQ(mpis.value().front().next, "ring");
  EXPECT_EQ(mpis.value().front().median_us, 1);
  // Others have rules as if it were not there.
  for (const Rule& rule : rules_for(cells)) EXPECT_FALSE(rule.spec.is_mpis);
}

TEST(TuneRules, LeaveNothingToAnMpiThatWinsByLessThanPassingThroughTakes) {
  Result<std::vector<Rule>> mpis = make_rules_of_mpi(
      {{allreduce(2, 8, {{"mpi", 0.090}, {"direct", 0.100}}), allreduce(2, 64, {{"mpi", 1}})}}, kNoise, "openmpi");
  ASSERT_TRUE(mpis.is_ok()) << mpis.status().message();
  EXPECT_TRUE(mpis.value().empty());
}

TEST(TuneRules, KeepsAWinnerWhileItIsAsGoodAsTheBest) {
  const auto rules =
      rules_for({allreduce(4, 8, {{"direct", 1}, {"ring", 3}}), allreduce(4, 64, {{"direct", 2.05}, {"ring", 2}}),
                 allreduce(4, 512, {{"direct", 3}, {"ring", 3.5}})});
  EXPECT_EQ(rules.size(), 1u);
}

TEST(TuneRules, TakesANewWinnerThatIsClearlyAhead) {
  const auto rules =
      rules_for({allreduce(4, 8, {{"direct", 1}, {"ring", 3}}), allreduce(4, 64, {{"direct", 3}, {"ring", 2}})});
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].spec.algorithm->name, "direct");
  EXPECT_EQ(rules[1].spec.algorithm->name, "ring");
  EXPECT_EQ(rules[1].bytes.last, UINT64_MAX);
}

TEST(TuneRules, PutsTheBorderWhereTimesCross) {
  // Ahead by a factor of 2 at 8 and behind by one of 8 at 32768: after a quarter of the twelve doublings.
  const auto rules =
      rules_for({allreduce(4, 8, {{"direct", 1}, {"ring", 2}}), allreduce(4, 32768, {{"direct", 80}, {"ring", 10}})});
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].bytes.last, 63u);
  EXPECT_EQ(rules[1].bytes.first, 64u);
}

TEST(TuneRules, WithoutTimesThatCrossTheSmallerSizesWinnerServesWhatLiesBetween) {
  const auto rules = rules_for({allreduce(4, 8, {{"direct", 1}}), allreduce(4, 4096, {{"ring", 10}})});
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[1].bytes.first, 4096u);
}

TEST(TuneRules, MeasuredRanksStandForTheirNeighboursAndNotForAll) {
  const Times times{{"direct", 1}};
  const auto rules = rules_for(
      {allreduce(2, 8, times, false), allreduce(4, 8, times), allreduce(8, 8, times), allreduce(16, 8, times)});
  EXPECT_EQ(lines_for(rules), (Lines{"allreduce ranks=..2 uncrowded direct", "allreduce ranks=..5 crowded direct",
                                     "allreduce ranks=6..11 crowded direct", "allreduce ranks=12..63 crowded direct"}));
}

TEST(TuneRules, NamesTheTimeAndTheRunnerUpOfTheMiddleOfARule) {
  const auto rules = rules_for({allreduce(4, 8, {{"direct", 1}, {"ring", 3}, {"pieces", 2}}),
                                allreduce(4, 64, {{"direct", 1.5}, {"ring", 4}, {"pieces", 5}}),
                                allreduce(4, 512, {{"direct", 2}, {"pieces", 3}})});
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_DOUBLE_EQ(rules[0].median_us, 1.5);
  EXPECT_EQ(rules[0].next, "ring");
  EXPECT_DOUBLE_EQ(rules[0].next_us, 4);
  EXPECT_EQ(rules[0].note, "at 64, 4 ranks");
}

TEST(TuneRules, LinesCanBeReadBack) {
  const auto rules = rules_for({allreduce(4, 8, {{"direct", 1.25}, {"reduce_broadcast:degree=flat", 3}}),
                                allreduce(4, 64 << 10, {{"direct", 30}, {"reduce_broadcast:degree=flat", 20}}),
                                {Collective::kBarrier, 2, false, 0, {{"signal", 0.1}}}});
  std::string text = "hocket-table 1\n";
  for (const Rule& rule : rules) text += aligned_line(rule) + "\n";
  Result<selection::Table> table = selection::Table::parse(text, "test");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  ASSERT_EQ(table.value().rules().size(), rules.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& read = table.value().rules()[i];
    EXPECT_EQ(selection::to_text(read), selection::to_text(rules[i]));
    EXPECT_NEAR(read.median_us, rules[i].median_us, rules[i].median_us * 0.01);
    EXPECT_EQ(read.next, rules[i].next);
    EXPECT_EQ(read.note, rules[i].note);
  }
}

TEST(TuneRules, LinesHaveTheSameColumnsAndPlainTimes) {
  const auto rules = rules_for({allreduce(16, 1 << 20, {{"direct", 1103}, {"ring", 1138.4}}),
                                {Collective::kReduceScatterBlock, 16, true, 1 << 20, {{"ring", 999.7}}},
                                {Collective::kBarrier, 16, true, 0, {{"signal", 27.4}}}});
  ASSERT_EQ(rules.size(), 3u);
  std::string all;
  for (const Rule& rule : rules) {
    const std::string line = aligned_line(rule);
    EXPECT_EQ(line.find(" ranks="), aligned_line(rules[0]).find(" ranks=")) << line;
    EXPECT_EQ(line.find(" us="), aligned_line(rules[0]).find(" us=")) << line;
    all += line + "\n";
  }
  EXPECT_NE(all.find(" us=1103 next=ring next_us=1138 "), std::string::npos) << all;
  EXPECT_NE(all.find(" us=1000 "), std::string::npos) << all;
}

TEST(TuneRules, ANameThatIsNoAlgorithmIsAnError) {
  const std::vector<MeasuredCell> cells{allreduce(4, 8, {{"rign", 1}})};
  EXPECT_FALSE(make_rules(cells).is_ok());
}

// Whatever was measured: every cell gets an algorithm that is as good as the best, and no rule could be spared.
TEST(TuneRules, NoMeasuredCellLosesMoreThanNoise) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const char* const names[] = {"direct", "ring", "pieces", "recursive_doubling"};
  for (int round = 0; round < 300; ++round) {
    std::vector<MeasuredCell> cells;
    for (uint32_t ranks : {4u, 8u})
      for (uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 8) {
        Times times;
        for (const char* name : names)
          if (random() % 8 != 0) times[name] = 1 + static_cast<double>(random() % 100) / 200;
        if (!times.empty()) cells.push_back(allreduce(ranks, bytes, times));
      }
    std::string text = "hocket-table 1\n";
    for (const Rule& rule : rules_for(cells)) text += aligned_line(rule) + "\n";
    Result<selection::Table> table = selection::Table::parse(text, "test");
    ASSERT_TRUE(table.is_ok()) << table.status().message();
    for (const MeasuredCell& cell : cells) {
      double best = INFINITY;
      for (const auto& [name, us] : cell.us) best = std::min(best, us);
      const Result<selection::Choice> choice = selection::choose({.collective = cell.collective,
                                                                  .bytes = cell.bytes,
                                                                  .ranks = cell.ranks,
                                                                  .oversubscribed = true,
                                                                  .element_bytes = 8},
                                                                 table.value());
      ASSERT_TRUE(choice.is_ok());
      ASSERT_TRUE(cell.us.contains(std::string(choice.value().algorithm->name))) << text;
      EXPECT_LE(cell.us.at(std::string(choice.value().algorithm->name)), best * kNoise) << text;
    }
  }
}

}  // namespace
}  // namespace hocket::command
