// SPDX-License-Identifier: BSD-3-Clause
#include "lab/words.h"

#include <gtest/gtest.h>

namespace hocket::lab {
namespace {

TEST(Nodes, AreNamedByNumberOrAllTogether) {
  EXPECT_EQ(parse_node("n0", 4).value(), 0);
  EXPECT_EQ(parse_node("n3", 4).value(), 3);
  EXPECT_EQ(parse_node("n63", 64).value(), 63);
  EXPECT_EQ(parse_node("all", 4).value(), kAllNodes);
}

TEST(Nodes, OthersAreRefusedByName) {
  for (const char* word : {"", "n", "n4", "n-1", "n01", "n1x", "3", "N1", "ALL", "n99999999999999999999", "n 1"}) {
    const Result<int> node = parse_node(word, 4);
    ASSERT_FALSE(node.is_ok()) << word;
    EXPECT_NE(std::string(node.status().message()).find("n0 to n3"), std::string::npos) << node.status().message();
  }
}

TEST(LabNames, AreSafeAsNamesOfFolders) {
  for (const char* name : {"lab", "a", "7", "my-lab-2"}) EXPECT_TRUE(check_name(name).is_ok()) << name;
  for (const char* name : {"", ".", "..", "a/b", "-a", "Lab", "a b", "a.b", "123456789012345678901234567890123"})
    EXPECT_FALSE(check_name(name).is_ok()) << name;
}

TEST(Shares, ArePercentWithOrWithoutTheSign) {
  EXPECT_EQ(parse_percent("0").value(), 0U);
  EXPECT_EQ(parse_percent("100%").value(), kWhole);
  EXPECT_EQ(parse_percent("50").value(), kWhole / 2);
  EXPECT_EQ(parse_percent("0.5%").value(), 21474836U);
}

TEST(Shares, OthersAreRefused) {
  for (const char* word : {"", "%", "-1%", "101%", "100.1", "1 %", "1%%", "one", "nan", "inf", "1e400", "-0"})
    EXPECT_FALSE(parse_percent(word).is_ok()) << word;
}

TEST(Shares, AreShownAsTheyWereGiven) {
  for (const char* word : {"0", "1", "2.5", "12.25", "100"})
    EXPECT_EQ(percent_text(parse_percent(word).value()), std::string(word) + " %");
}

TEST(Durations, NeedAUnitButForNothing) {
  EXPECT_EQ(parse_duration_ns("0").value(), 0U);
  EXPECT_EQ(parse_duration_ns("0ms").value(), 0U);
  EXPECT_EQ(parse_duration_ns("250us").value(), 250'000U);
  EXPECT_EQ(parse_duration_ns("1ms").value(), 1'000'000U);
  EXPECT_EQ(parse_duration_ns("1.5s").value(), 1'500'000'000U);
  EXPECT_EQ(parse_duration_ns("7ns").value(), 7U);
}

TEST(Durations, OthersAreRefused) {
  for (const char* word : {"", "ms", "1", "1m", "1 ms", "-1ms", "3601s", "1h", "1mss", "nans", "1e300s"})
    EXPECT_FALSE(parse_duration_ns(word).is_ok()) << word;
}

TEST(Durations, AreShownInTheLargestUnitThatFits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1'500'000), "1.5 ms");
  EXPECT_EQ(duration_text(2'000'000'000), "2 s");
}

TEST(Quoting, LeavesPlainWordsAndKeepsOthersWhole) {
  EXPECT_EQ(quoted("--mca"), "--mca");
  EXPECT_EQ(quoted("a=b,c:/d"), "a=b,c:/d");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("two words"), "'two words'");
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(quoted("$HOME"), "'$HOME'");
}

}  // namespace
}  // namespace hocket::lab
