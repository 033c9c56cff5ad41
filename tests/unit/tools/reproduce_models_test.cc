// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/models.h"

#include <gtest/gtest.h>

#include "reproduce/finding.h"

namespace hocket::reproduce {
namespace {

Item item_with(const char* model) {
  Item item;
  item.id = "paper/figure";
  item.model = Json::parse(model);
  return item;
}

TEST(ReproduceModels, SimulateEachPointOfALine) {
  Models models;
  const std::vector<Line> lines = models.lines_of(item_with(R"({
    "call": {"collective": "barrier", "algorithm": "dissemination", "network": "lanai-9.1"},
    "x": {"axis": "nodes", "values": [2, 4, 16]},
    "lines": [{"name": "by messages"}, {"name": "messages", "quantity": "path_messages"},
              {"name": "packets", "engine": "nic", "quantity": "packets"},
              {"name": "acknowledged", "engine": "nic-direct", "quantity": "packets"}]})"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].points, (std::vector<std::pair<double, double>>{{2, 1}, {4, 2}, {16, 4}}));
  EXPECT_NEAR(lines[0].points[2].second / lines[0].points[0].second, 4, 1e-9);
  EXPECT_EQ(lines[2].at(16), 64);
  EXPECT_EQ(lines[3].at(16), 128) << "an acknowledgement for each";
  EXPECT_EQ(models.simulated(), 9u) << "two quantities of the same calls";
}

TEST(ReproduceModels, SayWhyALineIsMissing) {
  Models models;
  const std::vector<Line> lines = models.lines_of(item_with(R"({
    "call": {"collective": "barrier"}, "x": {"axis": "nodes", "values": [2]},
    "lines": [{"name": "a", "network": "nowhere"}, {"name": "b", "algorithm": "ring"},
              {"name": "c", "network": "lanai-9.1", "with": {"nothing_us": 1}}]})"));
  EXPECT_EQ(lines[0].problem, "no model of this network yet: nowhere");
  EXPECT_NE(lines[1].problem.find("ring"), std::string::npos);
  EXPECT_NE(lines[2].problem.find("nothing_us"), std::string::npos);
}

TEST(ReproduceModels, NumbersOfTheirOwnTakeTheNetworksPlace) {
  Models models;
  const std::vector<Line> lines = models.lines_of(item_with(R"({
    "call": {"collective": "barrier", "algorithm": "dissemination", "network": "lanai-9.1"},
    "x": {"axis": "nodes", "values": [8]},
    "lines": [{"name": "a", "with": {"wire_overhead_us": 0, "wire_gap_us": 0, "wire_alpha_us": 7}}]})"));
  EXPECT_DOUBLE_EQ(lines[0].at(8).value_or(0), 21);
}

TEST(ReproduceModels, ATreeThatServesItsNearestFirstNumbersItsRanksSo) {
  Models models;
  const std::vector<Line> lines = models.lines_of(item_with(R"({
    "call": {"collective": "broadcast", "tree": "doubling", "network": "infiniband-116", "nodes": 116, "bytes": 2},
    "x": {"axis": "rank"}, "lines": [{"name": "each"}]})"));
  ASSERT_EQ(lines[0].points.size(), 115u);
  // Rank 3 is rank 1's, rank 98 is three messages away and rank 63 six.
  EXPECT_LT(lines[0].at(1).value_or(0), lines[0].at(3).value_or(0));
  EXPECT_LT(lines[0].at(3).value_or(0), lines[0].at(98).value_or(0));
  EXPECT_LT(lines[0].at(98).value_or(0), lines[0].at(63).value_or(0));
}

TEST(ReproduceModels, BelowTheRootEnginesLetHostsGo) {
  Models models;
  const std::vector<Line> lines = models.lines_of(item_with(R"({
    "call": {"collective": "reduce", "algorithm": "tree_mm:degree=2", "bytes": 8, "element_bytes": 8,
             "network": "lanai-9.1", "quantity": "rank_mean"},
    "x": {"axis": "nodes", "values": [2, 16]},
    "lines": [{"name": "NIC", "engine": "nic"}, {"name": "host"}]})"));
  EXPECT_GT(lines[0].at(2).value_or(0), lines[0].at(16).value_or(1e9));
  EXPECT_LT(lines[1].at(2).value_or(1e9), lines[1].at(16).value_or(0));
}

TEST(ReproduceModels, AxesPutXWhereItBelongs) {
  EXPECT_EQ(ranks_of(at_x(Json::object(), "ranks", 8)), 8u);
  EXPECT_EQ(ranks_of(at_x({{"ppn", 8}}, "cores", 64)), 64u);
  EXPECT_EQ(at_x({{"ppn", 8}}, "cores", 64)["nodes"], 8);
  EXPECT_EQ(ranks_of(at_x(Json::object(), "levels", 3)), 4u);
  EXPECT_EQ(at_x(Json::object(), "missed", 50)["with"]["multicast_loss"], 0.5);
  EXPECT_EQ(at_x(Json::object(), "bytes", 512)["bytes"], 512);
}

// What is written wrong in the models' files: claims and lines that nobody has.
TEST(ReproduceModels, EveryRecipeIsOfAClaimAndOfLinesThatAreThere) {
  for (const Paper& paper : papers()) {
    for (const Item& item : paper.items) {
      std::vector<std::string> names;
      for (const Json& line : item.model.value("lines", Json::array()))
        for (const char* field : {"name", "beside"}) names.push_back(line.value(field, std::string()));
      for (const Json& recipe : item.model.value("claims", Json::array())) {
        EXPECT_NE(item.find(recipe.value("claim", std::string())), nullptr) << item.id << " " << recipe;
        for (const char* field : {"of", "over", "minus", "below", "less", "more", "against"}) {
          if (!recipe.contains(field)) continue;
          EXPECT_NE(std::find(names.begin(), names.end(), recipe[field].get<std::string>()), names.end())
              << item.id << " " << recipe;
        }
        for (const char* field : {"best_of", "worst_of", "expected"})
          for (const Json& name : recipe.value(field, Json::array()))
            EXPECT_NE(std::find(names.begin(), names.end(), name.get<std::string>()), names.end())
                << item.id << " " << recipe;
      }
    }
  }
}

}  // namespace
}  // namespace hocket::reproduce
