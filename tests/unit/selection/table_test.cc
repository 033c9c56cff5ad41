// SPDX-License-Identifier: BSD-3-Clause
#include "selection/table.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "selection/choice.h"
#include "selection/shipped_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;

std::string error_of(const std::string& text) {
  Result<Table> table = Table::parse(text, "site.table");
  return table.is_ok() ? "" : table.status().message();
}

TEST(Spec, ReadsParametersAndWritesThemBack) {
  for (const char* text :
       {"tree", "tree:degree=3", "tree:degree=flat", "tree:degree=2,segment=16K", "tree:segment=100"}) {
    Result<Spec> spec = parse_spec(Collective::kReduce, text);
    ASSERT_TRUE(spec.is_ok()) << spec.status().message();
    EXPECT_EQ(to_text(spec.value()), text);
  }
}

TEST(Spec, ListsTheKnownNamesWhenTheNameIsUnknown) {
  Result<Spec> spec = parse_spec(Collective::kAllreduce, "rign");
  ASSERT_FALSE(spec.is_ok());
  const std::string message = spec.status().message();
  EXPECT_NE(message.find("`rign`"), std::string::npos) << message;
  EXPECT_NE(message.find("ring"), std::string::npos) << message;
  EXPECT_NE(message.find("recursive_doubling"), std::string::npos) << message;
  EXPECT_EQ(message.find("dissemination"), std::string::npos) << message;
}

TEST(Spec, RefusesParametersTheAlgorithmDoesNotHave) {
  EXPECT_FALSE(parse_spec(Collective::kAllreduce, "ring:degree=3").is_ok());
  EXPECT_FALSE(parse_spec(Collective::kBarrier, "dissemination:segment=4K").is_ok());
  EXPECT_FALSE(parse_spec(Collective::kReduce, "tree:colour=red").is_ok());
}

TEST(Spec, RefusesMalformedParameters) {
  for (const char* text : {"", ":", "tree:", "tree:degree", "tree:degree=", "tree:degree=0", "tree:degree=-1",
                           "tree:degree=4294967295", "tree:degree=4294967296", "tree:degree=2,", "tree:,degree=2",
                           "tree:degree=2,degree=3", "tree:segment=0", "tree:segment=x", "tree:degree=2 ", "Tree"})
    EXPECT_FALSE(parse_spec(Collective::kReduce, text).is_ok()) << text;
}

TEST(Table, ReadsConditionsMeasurementsAndComments) {
  Result<Table> table = Table::parse(
      "hocket-table 1\n"
      "# a comment\n"
      "\n"
      "allreduce ranks=5.. crowded bytes=..4K direct us=3.1 next=ring next_us=6.5  # measured here\r\n"
      "reduce\tranks=4 uncrowded tree:degree=3,segment=16K\n"
      "barrier signal",
      "site.table");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  const auto rules = table.value().rules();
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(to_text(rules[0]), "allreduce ranks=5.. crowded bytes=..4K direct");
  EXPECT_DOUBLE_EQ(rules[0].median_us, 3.1);
  EXPECT_EQ(rules[0].next, "ring");
  EXPECT_DOUBLE_EQ(rules[0].next_us, 6.5);
  EXPECT_EQ(rules[0].note, "measured here");
  EXPECT_EQ(rules[0].line, 4u);
  EXPECT_EQ(to_text(rules[1]), "reduce ranks=4 uncrowded tree:degree=3,segment=16K");
  EXPECT_EQ(to_text(rules[2]), "barrier signal");
}

TEST(Table, TakesMpisNamesOfCollectivesToo) {
  Result<Table> table = Table::parse("hocket-table 1\nbcast tree_mm\nMPI_Allreduce ring\n", "t");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  ASSERT_EQ(table.value().rules().size(), 2u);
  EXPECT_EQ(table.value().rules()[0].collective, schedule::Collective::kBroadcast);
  EXPECT_EQ(table.value().rules()[1].collective, schedule::Collective::kAllreduce);
}

TEST(Table, RulesWrittenOutReadBackTheSame) {
  const Table& shipped = Table::shipped();
  std::string text = "hocket-table 1\n";
  for (const Rule& rule : shipped.rules()) text += to_text(rule) + "\n";
  Result<Table> again = Table::parse(text, "again");
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  ASSERT_EQ(again.value().rules().size(), shipped.rules().size());
  for (size_t i = 0; i < shipped.rules().size(); ++i)
    EXPECT_EQ(to_text(again.value().rules()[i]), to_text(shipped.rules()[i]));
}

TEST(Table, ErrorsNameFileLineAndReason) {
  EXPECT_EQ(error_of("hocket-table 1\n\nallreduce quick\n").find("site.table:3: "), 0u);
  EXPECT_NE(
      error_of("hocket-table 1\nallreduse ring\n").find("`allreduse` is not a collective: did you mean `allreduce`?"),
      std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce bytes=8K..4K ring\n").find("empty"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce bytes=1..2 bytes=3 ring\n").find("twice"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce crowded uncrowded ring\n").find("once"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce ranks=2..\n").find("names no algorithm"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce ring bytes=4\n").find("after the algorithm"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce ring us=fast\n").find("microseconds"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nallreduce ring next=rong\n").find("`rong`"), std::string::npos);
}

TEST(Table, ReadsTheModelsParameters) {
  Result<Table> table = Table::parse("hocket-table 1\nmodel cores=8 alpha_us=0.25 switch_us=1.5  # fitted\n", "t");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  const CostParameters expected{.cores = 8, .alpha_us = 0.25, .switch_us = 1.5};
  EXPECT_EQ(table.value().model(), expected);
  EXPECT_EQ(table.value().model_line(), 2u);
  EXPECT_TRUE(table.value().rules().empty());
  Result<Table> without = Table::parse("hocket-table 1\nbarrier signal\n", "t");
  ASSERT_TRUE(without.is_ok());
  EXPECT_EQ(without.value().model(), CostParameters());
  EXPECT_EQ(without.value().model_line(), 0u);
}

TEST(Table, RefusesModelsThatMakeNoSense) {
  EXPECT_EQ(error_of("hocket-table 1\n\nmodel alpha_us=-1\n").find("site.table:3: "), 0u);
  for (const char* word : {"alpha_us=nan", "memory_after_kib=16M", "wire_crowding=", "alpha_us=0.1us"}) {
    const std::string error = error_of(std::string("hocket-table 1\nmodel ").append(word).append("\n"));
    EXPECT_NE(error.find(std::string("`").append(word).append("`: ")), std::string::npos) << error;
    EXPECT_NE(error.find("= is a number from 0 on without a unit"), std::string::npos) << error;
  }
  EXPECT_NE(error_of("hocket-table 1\nmodel alfa_us=1\n").find("alpha_us="), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nmodel alpha_us=1 alpha_us=2\n").find("twice"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nmodel cores=0\n").find("cores="), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nmodel cores=2 cores=2\n").find("once"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\nmodel cores=2\nmodel cores=2\n").find("second"), std::string::npos);
}

TEST(Table, AnUnknownCollectiveIsAnsweredWithAllThatAreKnown) {
  const std::string error = error_of("hocket-table 1\nsacn ring\n");
  for (int i = 0; i < schedule::kCollectives; ++i)
    EXPECT_NE(error.find(name(static_cast<Collective>(i))), std::string::npos) << error;
}

TEST(Table, SizesAreReadAsPeopleWriteThem) {
  Result<Table> table = Table::parse("hocket-table 1\nreduce bytes=1KB..64KiB tree:segment=16kB\n", "site.table");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  EXPECT_EQ(to_text(table.value().rules()[0]), "reduce bytes=1K..64K tree:segment=16K");
  EXPECT_NE(error_of("hocket-table 1\nreduce bytes=1Q.. tree\n").find("site.table:2: `1Q` is not a size; write"),
            std::string::npos);
}

TEST(Table, RefusesForeignTextsAndOtherVersions) {
  EXPECT_NE(error_of("").find("not a tuning table"), std::string::npos);
  EXPECT_NE(error_of("#!/bin/sh\n").find("site.table:1: not a tuning table"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 2\n").find("version"), std::string::npos);
  EXPECT_NE(error_of("hocket-table\n").find("version"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1 extra\n").find("nothing else"), std::string::npos);
  EXPECT_NE(error_of(std::string("hocket-table 1\n\0", 16)).find("binary"), std::string::npos);
  EXPECT_NE(error_of("hocket-table 1\n" + std::string(2 << 20, '#')).find("1 MiB"), std::string::npos);
}

TEST(Table, LoadsAFileAndSaysWhyItCannot) {
  const std::string path = ::testing::TempDir() + "selection_table_test.table";
  std::ofstream(path) << "hocket-table 1\nbarrier dissemination\n";
  Result<Table> table = Table::load(path);
  std::remove(path.c_str());
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  EXPECT_EQ(table.value().rules().size(), 1u);
  EXPECT_EQ(table.value().source(), path);
  Result<Table> missing = Table::load(path);
  ASSERT_FALSE(missing.is_ok());
  EXPECT_NE(std::string(missing.status().message()).find(path), std::string::npos);
  EXPECT_FALSE(Table::load("/").is_ok());
}

TEST(ShippedTable, IsReadableAndHasAModel) {
  EXPECT_FALSE(Table::shipped().rules().empty());
  EXPECT_NE(Table::shipped().model_line(), 0u);
  for (const ShippedTable& one : kShippedTables) {
    const Result<Table> table = Table::parse(one.text, std::string(one.name));
    ASSERT_TRUE(table.is_ok()) << table.status().message();
    EXPECT_FALSE(table.value().rules().empty()) << one.name;
    EXPECT_NE(table.value().model_line(), 0u) << one.name;
  }
}

TEST(ShippedTable, DecidesEveryCallByARuleOrByPrediction) {
  for (int collective = 0; collective < schedule::kCollectives; ++collective)
    for (uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 16u, 33u, 64u})
      for (uint64_t bytes = 8; bytes <= 64 * 1024; bytes *= 8)
        for (bool oversubscribed : {false, true}) {
          Query query{.collective = static_cast<Collective>(collective),
                      .bytes = bytes,
                      .ranks = ranks,
                      .oversubscribed = oversubscribed,
                      .element_bytes = 8};
          if (!schedule::lengths_are_agreed(query.collective)) query.bytes = 0;
          Result<Choice> choice = choose(query, Table::shipped());
          ASSERT_TRUE(choice.is_ok()) << choice.status().message();
          EXPECT_EQ(choice.value().reason.find("the first algorithm"), std::string::npos) << choice.value().reason;
        }
}

TEST(TableText, TimesHaveThreeDigitsAndNoExponent) {
  EXPECT_EQ(us_to_text(0.1294), "0.129");
  EXPECT_EQ(us_to_text(18.84), "18.8");
  EXPECT_EQ(us_to_text(999.4), "999");
  EXPECT_EQ(us_to_text(999.6), "1000");
  EXPECT_EQ(us_to_text(1100), "1100");
  EXPECT_EQ(us_to_text(123456.7), "123457");
}

TEST(ShippedTables, AreChosenByCores) {
  std::vector<Table> tables;
  for (const uint32_t cores : {8u, 2u, 64u, 16u}) tables.emplace_back(CostParameters{.cores = cores});
  const auto chosen = [&](uint32_t cores) { return best_for(cores, tables).model().cores; };
  EXPECT_EQ(chosen(1), 2u);
  EXPECT_EQ(chosen(2), 2u);
  EXPECT_EQ(chosen(7), 2u);
  EXPECT_EQ(chosen(8), 8u);
  EXPECT_EQ(chosen(63), 16u);
  EXPECT_EQ(chosen(1000), 64u);
  EXPECT_EQ(&Table::shipped_for(2), &Table::shipped());
}

}  // namespace
}  // namespace hocket::selection
