// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tools/unlike_parameters.h"
#include "tune/on_mpi.h"
#include "tune/written/table.h"

namespace hocket::command {
namespace {

using schedule::Collective;
using selection::Rule;

std::vector<ClusterShape> shapes(const std::string& text, const std::vector<uint32_t>& ranks) {
  Result<std::vector<ClusterShape>> found = shapes_of(text, schedule::Nodes::in_blocks(ranks));
  EXPECT_TRUE(found.is_ok()) << found.status().message();
  return found.is_ok() ? found.take() : std::vector<ClusterShape>();
}

std::string refusal(const std::string& text, const std::vector<uint32_t>& ranks) {
  const Result<std::vector<ClusterShape>> found = shapes_of(text, schedule::Nodes::in_blocks(ranks));
  return found.is_ok() ? "" : std::string(found.status().message());
}

MeasuredCell alltoall(uint32_t nodes, uint32_t ranks_a_node, uint64_t bytes, Times times, bool oversubscribed = true) {
  return {Collective::kAlltoall, nodes * ranks_a_node, oversubscribed, bytes, std::move(times), nodes, ranks_a_node};
}

std::vector<Rule> rules_of(const std::vector<MeasuredCell>& cells) {
  Result<std::vector<Rule>> rules = make_rules(cells);
  EXPECT_TRUE(rules.is_ok()) << rules.status().message();
  return rules.is_ok() ? rules.take() : std::vector<Rule>();
}

std::vector<std::string> lines_of(const std::vector<Rule>& rules) {
  std::vector<std::string> lines;
  for (const Rule& rule : rules) lines.push_back(selection::to_text(rule));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(ClusterShapes, AreThePowersOfTwoUpToTheJobThoseOfOneRankANodeFirst) {
  EXPECT_EQ(shapes("", {2, 2, 2, 2}), (std::vector<ClusterShape>{{2, 1}, {4, 1}, {2, 2}, {4, 2}}));
  EXPECT_EQ(shapes("", {3, 5, 4}), (std::vector<ClusterShape>{{2, 1}, {3, 1}, {2, 2}, {3, 2}, {2, 3}, {3, 3}}));
  EXPECT_EQ(shapes("", {1, 1}), (std::vector<ClusterShape>{{2, 1}}));
}

TEST(ClusterShapes, AreThoseThatAreAskedFor) {
  EXPECT_EQ(shapes("2x3,2x1,2x3", {3, 4}), (std::vector<ClusterShape>{{2, 1}, {2, 3}}));
}

TEST(ClusterShapes, ThatTheJobCannotHaveAreRefusedByName) {
  EXPECT_NE(refusal("2x2,3x2", {2, 2}).find("3x2: this job has 2 nodes"), std::string::npos);
  EXPECT_NE(refusal("2x3", {2, 8}).find("2x3"), std::string::npos);
  for (const char* word : {"1x1", "0x4", "2x0", "4", "2x", "x2", "2xtwo"})
    EXPECT_NE(refusal(word, {4, 4}).find(word), std::string::npos) << word;
}

TEST(ClusterShapes, AreOfOneNodeToo) {
  const Result<std::vector<ClusterShape>> named =
      shapes_of("1x4,2x2", schedule::Nodes(std::vector<uint64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  ASSERT_TRUE(named.is_ok()) << named.status().message();
  EXPECT_EQ(named.value(), (std::vector<ClusterShape>{{2, 2}, {1, 4}}));
  const Result<std::vector<ClusterShape>> usual = shapes_of("", schedule::Nodes(6));
  ASSERT_TRUE(usual.is_ok()) << usual.status().message();
  EXPECT_EQ(usual.value(), (std::vector<ClusterShape>{{1, 2}, {1, 4}, {1, 6}}));
}

TEST(ClusterRules, EachShapeStandsForThoseNearestToIt) {
  const auto rules = rules_of({alltoall(2, 2, 8, {{"leader", 1}}), alltoall(2, 4, 8, {{"send_aggregation", 1}}),
                               alltoall(8, 4, 8, {{"bruck", 1}})});
  EXPECT_EQ(lines_of(rules), (Lines{"alltoall nodes=2..4 ppn=..2 crowded leader",
                                    "alltoall nodes=2..4 ppn=3..5 crowded send_aggregation",
                                    "alltoall nodes=5..11 ppn=..5 crowded bruck"}));
}

TEST(ClusterRules, OfOneNodeAreOneNodesAlone) {
  MeasuredCell one = alltoall(1, 4, 8, {{"direct", 1}});
  one.ranks = 4;
  const auto rules = rules_of({one, alltoall(2, 4, 8, {{"linear", 1}})});
  EXPECT_EQ(lines_of(rules), (Lines{"alltoall ranks=..15 crowded direct", "alltoall nodes=2 ppn=..5 crowded linear"}));
  EXPECT_NE(aligned_line(rules[1]).find("nodes=2 ppn=..5 "), std::string::npos);
  EXPECT_NE(aligned_line(rules[1]).find("# at 8, 2x4 ranks"), std::string::npos);
}

TEST(ClusterRules, PartsOfCompositionsAreKept) {
  const auto rules = rules_of({alltoall(4, 4, 512, {{"send_aggregation:across=bruck", 1}, {"linear", 2}})});
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(selection::to_text(rules[0].spec), "send_aggregation:across=bruck");
  EXPECT_EQ(rules[0].next, "linear");
}

// Of the lines of an older table.
Lines left_of(const std::string& lines, const std::vector<Rule>& fresh) {
  const Result<selection::Table> old = selection::Table::parse("hocket-table 1\n" + lines, "a test");
  EXPECT_TRUE(old.is_ok()) << old.status().message();
  return old.is_ok() ? lines_of(left_beside(fresh, old.value().rules())) : Lines();
}

TEST(ClusterRules, ReplaceOlderOnesThatTheyCover) {
  const auto fresh = rules_of({alltoall(4, 4, 8, {{"bruck", 1}})});  // nodes=2..5 ppn=..5
  const Lines left = left_of(
      "alltoall nodes=4 ppn=4 crowded leader\n"
      "alltoall nodes=4 ppn=4 uncrowded leader\n"
      "alltoall nodes=4 ppn=8 crowded leader\n"
      "alltoall nodes=2.. crowded leader\n"
      "alltoall crowded direct\n"
      "allgather nodes=4 ppn=4 crowded leader\n",
      fresh);
  EXPECT_EQ(left, (Lines{"alltoall nodes=4 ppn=4 uncrowded leader", "alltoall nodes=4 ppn=8 crowded leader",
                         "alltoall nodes=2.. crowded leader", "alltoall crowded direct",
                         "allgather nodes=4 ppn=4 crowded leader"}));
}

TEST(ClusterRules, ThatLeaveCallsToTheMpiReplaceNoOthers) {
  auto fresh = rules_of({alltoall(4, 4, 8, {{"bruck", 1}})});  // nodes=2..5 ppn=..5
  fresh[0].wire = "mpich";
  fresh[0].spec = {};
  fresh[0].spec.is_mpis = true;
  const Lines left = left_of(
      "alltoall nodes=4 ppn=4 wire=mpich crowded bytes=..64 mpi\n"
      "alltoall nodes=4 ppn=4 wire=mpich crowded leader\n",
      fresh);
  EXPECT_EQ(left, (Lines{"alltoall nodes=4 ppn=4 wire=mpich crowded leader"}));
}

TEST(ClusterRules, OfOneWireReplaceThatWiresOnly) {
  auto fresh = rules_of({alltoall(4, 4, 8, {{"bruck", 1}})});  // nodes=2..5 ppn=..5
  fresh[0].wire = "mpich";
  const Lines left = left_of(
      "alltoall nodes=4 ppn=4 crowded leader\n"
      "alltoall nodes=4 ppn=4 wire=openmpi crowded leader\n"
      "alltoall nodes=4 ppn=4 wire=mpich crowded leader\n",
      fresh);
  EXPECT_EQ(left,
            (Lines{"alltoall nodes=4 ppn=4 crowded leader", "alltoall nodes=4 ppn=4 wire=openmpi crowded leader"}));
}

TEST(ClusterTable, IsReadBackAsItWasMade) {
  const auto fresh =
      rules_of({alltoall(4, 4, 8, {{"bruck", 1}, {"linear", 3}}), alltoall(4, 4, 4096, {{"linear", 9}})});
  const simulation::CostParameters model = all_unlike_the_defaults();
  const std::string text =
      cluster_table_text({"shipped", 1.1}, {}, model, {}, fresh, selection::Table::shipped().rules());
  const Result<selection::Table> table = selection::Table::parse(text, "the new table");
  ASSERT_TRUE(table.is_ok()) << table.status().message() << "\n" << text;
  EXPECT_EQ(table.value().model(), model);
  EXPECT_EQ(table.value().rules().size(), fresh.size() + selection::Table::shipped().rules().size());
  const schedule::Nodes nodes = schedule::Nodes::in_blocks({4, 4, 4, 4});
  selection::Query query;
  query.collective = Collective::kAlltoall;
  query.ranks = 16;
  query.nodes = &nodes;
  query.oversubscribed = true;
  query.bytes = 8;
  EXPECT_EQ(selection::choose(query, table.value()).value().algorithm->name, "bruck");
  query.bytes = 4096;
  EXPECT_EQ(selection::choose(query, table.value()).value().algorithm->name, "linear");
}

}  // namespace
}  // namespace hocket::command
