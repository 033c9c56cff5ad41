// SPDX-License-Identifier: BSD-3-Clause
#include "selection/among_neighbours.h"

#include <gtest/gtest.h>

#include "selection/parsed_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;
using schedule::Neighbours;
using schedule::Nodes;

// All 26 around a point of a torus.
std::shared_ptr<const Neighbours> around(uint32_t length) {
  std::vector<int32_t> offsets;
  for (int32_t i = 0; i < 27; ++i)
    if (i != 13) offsets.insert(offsets.end(), {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1});
  return Neighbours::of_stencil({length, length, length}, {true, true, true}, offsets, length * length * length).take();
}

Query alltoall(uint64_t bytes, const Neighbours& neighbours, const Nodes* nodes = nullptr) {
  return {.collective = Collective::kNeighborAlltoall, .bytes = bytes, .ranks = neighbours.ranks(), .nodes = nodes};
}

std::string chosen(const Query& query, const Neighbours& neighbours, const Table& table) {
  Result<Choice> choice = choose_among_neighbours(query, neighbours, table, nullptr);
  return choice.is_ok() ? std::string(choice.value().algorithm->name) : choice.status().message();
}

TEST(ChoiceAmongNeighbours, IsTheFirstRuleThatCanServe) {
  const auto torus = around(3);
  const Table table = parsed_table(
      "neighbor_alltoall bytes=..64 nodes\n"
      "neighbor_alltoall bytes=..64 dimensions\n"
      "neighbor_alltoall joined\n"
      "neighbor_alltoall linear\n"
      "neighbor_alltoallv linear\n");
  EXPECT_EQ(chosen(alltoall(64, *torus), *torus, table), "dimensions");
  EXPECT_EQ(chosen(alltoall(65, *torus), *torus, table), "linear") << "each pair has one block, so nothing is joined";
  const Result<Choice> choice = choose_among_neighbours(alltoall(64, *torus), *torus, table, nullptr);
  EXPECT_EQ(choice.value().reason, "test, line 3");
  Query vector = alltoall(0, *torus);
  vector.collective = Collective::kNeighborAlltoallv;
  EXPECT_EQ(chosen(vector, *torus, table), "linear");
}

TEST(ChoiceAmongNeighbours, RefusesWhatIsForcedAndCanNotServe) {
  const auto graph = Neighbours::of_lists(std::vector<Neighbours::Lists>{{{1}, {1}}, {{0}, {0}}}).take();
  const auto why = [&](const char* name, Collective collective, uint64_t bytes) {
    Query query = alltoall(bytes, *graph);
    query.collective = collective;
    Result<Spec> spec = parse_spec(collective, name);
    EXPECT_TRUE(spec.is_ok()) << spec.status().message();
    Result<Choice> choice = choose_among_neighbours(query, *graph, Table(), &spec.value());
    return choice.is_ok() ? std::string() : std::string(choice.status().message());
  };
  EXPECT_EQ(why("direct", Collective::kNeighborAlltoall, 64 * 1024), "");
  EXPECT_EQ(why("direct", Collective::kNeighborAlltoall, 64 * 1024 + 1),
            "neighbor_alltoall can't be served by the forced direct: 65537 bytes do not fit into a slot of 64K");
  EXPECT_EQ(why("direct", Collective::kNeighborAlltoallv, 0),
            "neighbor_alltoallv can't be served by the forced direct: all ranks must see how long blocks are, and here "
            "each sees its own");
  EXPECT_EQ(why("dimensions", Collective::kNeighborAlltoall, 8),
            "neighbor_alltoall can't be served by the forced dimensions: no grid is known on which all ranks have the "
            "same neighbours");
  EXPECT_EQ(why("nodes", Collective::kNeighborAlltoall, 8),
            "neighbor_alltoall can't be served by the forced nodes: all ranks are on one node");
  EXPECT_FALSE(parse_spec(Collective::kNeighborAlltoall, "ring").is_ok());
  EXPECT_FALSE(parse_spec(Collective::kAlltoall, "dimensions").is_ok());
}

TEST(ChoiceAmongNeighbours, CombinesWhereMessagesCountAndNotWhereBytesDo) {
  const auto torus = around(4);
  const Nodes apart = Nodes::in_blocks(std::vector<uint32_t>(64, 1));
  EXPECT_EQ(chosen(alltoall(8, *torus, &apart), *torus, Table()), "dimensions");
  EXPECT_EQ(chosen(alltoall(1 << 20, *torus, &apart), *torus, Table()), "linear");
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  EXPECT_NE(chosen(alltoall(8, *torus, &nodes), *torus, Table()), "linear");
  EXPECT_EQ(chosen(alltoall(8, *torus), *torus, Table()), "direct");
}

TEST(ChoiceAmongNeighbours, IsMadeForNobody) {
  const auto nobody = Neighbours::of_lists(std::vector<Neighbours::Lists>(3)).take();
  for (int i = schedule::kCollectives; i < schedule::kAllCollectives; ++i) {
    Query query = alltoall(8, *nobody);
    query.collective = static_cast<Collective>(i);
    EXPECT_TRUE(choose_among_neighbours(query, *nobody, Table::shipped(), nullptr).is_ok());
  }
}

TEST(ExplanationAmongNeighbours, NamesWhatCanAndWhatCanNot) {
  const auto torus = around(3);
  const std::string text = explain_among_neighbours(alltoall(64, *torus), *torus, Table(), nullptr);
  EXPECT_NE(text.find("neighbor_alltoall of 64 bytes a block on 27 ranks, with up to 26 destinations"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  runs      direct: "), std::string::npos) << text;
  EXPECT_NE(text.find("  because   no line of the"), std::string::npos) << text;
  EXPECT_NE(text.find(" us; dimensions "), std::string::npos) << text;
  EXPECT_NE(text.find("  possible  also linear, dimensions (HOCKET_NEIGHBOR_ALLTOALL=linear)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  not       nodes: all ranks are on one node"), std::string::npos) << text;
}

TEST(ExplanationAmongNeighbours, SaysThatWhatIsForcedCanNotServe) {
  const auto torus = around(3);
  const Spec nodes = parse_spec(Collective::kNeighborAlltoall, "nodes").take();
  const std::string text = explain_among_neighbours(alltoall(64, *torus), *torus, Table(), &nodes);
  EXPECT_NE(text.find("  runs      nothing: "), std::string::npos) << text;
  EXPECT_NE(text.find("the forced nodes: all ranks are on one node"), std::string::npos) << text;
  EXPECT_EQ(text.find("  because"), std::string::npos) << text;
}

}  // namespace
}  // namespace hocket::selection
