// SPDX-License-Identifier: BSD-3-Clause
// Algorithms with their parameters, as text.
#include <gtest/gtest.h>

#include <string>

#include "selection/choice.h"

namespace hocket::selection {
namespace {

using schedule::Collective;

std::string again(Collective collective, const std::string& text) {
  const Result<Spec> spec = parse_spec(collective, text);
  return spec.is_ok() ? to_text(spec.value()) : spec.status().message();
}

TEST(Spec, ATreeThatIsGivenIsAListOfParents) {
  for (const char* text : {"parents:0.0.1.1", "parents:0,segment=4K", "parents", "leader:across=parents/0.0.1"})
    EXPECT_EQ(again(Collective::kReduce, text), text);
  EXPECT_EQ(parse_spec(Collective::kReduce, "parents:0.0.1").value(),
            parse_spec(Collective::kReduce, "parents:0.0.1").value());
  EXPECT_NE(again(Collective::kReduce, "parents:0.0.7").find("rank 2 has parent 7"), std::string::npos);
  EXPECT_NE(again(Collective::kReduce, "parents:0.2.8.0").find("rank 2 has parent 8"), std::string::npos);
  EXPECT_NE(again(Collective::kReduce, "parents:degree=3").find("`3` is no tree"), std::string::npos);
  EXPECT_NE(again(Collective::kReduce, "parents:0.0,0.0").find("`0.0` is not a parameter"), std::string::npos);
  EXPECT_NE(again(Collective::kReduce, "tree_mm:0.0").find("is not a parameter of tree_mm"), std::string::npos);
}

TEST(Spec, PiecesMayBeGivenByTheLeastThatTheyShallHave) {
  for (const char* text : {"pieces:piece=4K", "pieces:piece=2K,segment=32K"})
    EXPECT_EQ(again(Collective::kBroadcast, text), text);
  EXPECT_NE(again(Collective::kBroadcast, "pieces:piece=0").find("at least one byte"), std::string::npos);
  EXPECT_NE(again(Collective::kBroadcast, "pieces:piece=1K,degree=2").find("is said by piece="), std::string::npos);
  EXPECT_NE(again(Collective::kBroadcast, "pieces:degree=2,piece=1K").find("is said by degree="), std::string::npos);
  EXPECT_NE(again(Collective::kBroadcast, "tree:piece=1K").find("is not a parameter"), std::string::npos);
  const Spec spec = parse_spec(Collective::kBroadcast, "pieces:piece=4K,segment=64K").value();
  const auto pieces = [&](uint64_t bytes) {
    const Query query{.collective = Collective::kBroadcast, .bytes = bytes, .ranks = 8};
    return choose(query, Table(), &spec).value().degree;
  };
  EXPECT_EQ(pieces(0), 1u);
  EXPECT_EQ(pieces(100), 1u);
  EXPECT_EQ(pieces(8 << 10), 2u);
  EXPECT_EQ(pieces(20 << 10), 5u);
  EXPECT_EQ(pieces(32 << 10), 8u);
  EXPECT_EQ(pieces(1 << 20), 8u);
}

TEST(Spec, ATreeIsForAsManyRanksAsItHas) {
  const Spec spec = parse_spec(Collective::kReduce, "parents:0.0.1").value();
  Query query{.collective = Collective::kReduce, .bytes = 8, .ranks = 3};
  EXPECT_EQ(why_not(query, spec), "");
  query.ranks = 4;
  EXPECT_NE(why_not(query, spec).find("one of 3 ranks"), std::string::npos);
  query.ranks = 3;
  query.commutative = false;
  EXPECT_NE(why_not(query, spec), "");
  EXPECT_EQ(why_not_meant(spec.algorithm->collective, spec, 3, nullptr), "");
  EXPECT_NE(why_not_meant(spec.algorithm->collective, spec, 4, nullptr), "");
  const Spec leaders = parse_spec(Collective::kReduce, "leader:across=parents/0.0.1").value();
  const schedule::Nodes pairs(std::vector<uint64_t>{0, 0, 1, 1, 2, 2});
  EXPECT_EQ(why_not_meant(leaders.algorithm->collective, leaders, 6, &pairs), "");
  EXPECT_NE(why_not_meant(leaders.algorithm->collective, leaders, 3, nullptr), "");
  const Spec within = parse_spec(Collective::kReduce, "leader:node=parents/0.0").value();
  EXPECT_EQ(why_not_meant(within.algorithm->collective, within, 6, &pairs), "");
  const schedule::Nodes uneven(std::vector<uint64_t>{0, 0, 1});
  const Query query_of_uneven{.collective = Collective::kReduce, .bytes = 8, .ranks = 3, .nodes = &uneven};
  EXPECT_NE(why_not(query_of_uneven, within).find("different numbers of ranks"), std::string::npos);
}

// It is chosen only by who gives one.
TEST(Spec, NobodyElseChoosesATreeThatIsGiven) {
  for (uint32_t ranks = 1; ranks <= 17; ++ranks) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce}) {
      const Query query{.collective = collective, .bytes = 64, .ranks = ranks};
      EXPECT_NE(choose(query, Table()).value().algorithm->name, "parents");
    }
  }
}

}  // namespace
}  // namespace hocket::selection
