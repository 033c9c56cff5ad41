// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/finding.h"

#include <gtest/gtest.h>

#include "reproduce/comparison.h"

namespace hocket::reproduce {
namespace {

Claim number(double value, const char* unit = "us", const char* relation = "=") {
  Claim claim;
  claim.id = "one";
  claim.text = "A time";
  claim.role = Role::kPredict;
  claim.value = value;
  claim.unit = unit;
  claim.relation = relation;
  return claim;
}

Claim relation(const char* word) {
  Claim claim;
  claim.role = Role::kPredict;
  claim.relation = word;
  return claim;
}

Claim order(const char* less, const char* more) {
  Claim claim;
  claim.role = Role::kPredict;
  claim.less = less;
  claim.more = more;
  return claim;
}

Line line(const char* name, std::vector<std::pair<double, double>> points) {
  Line made;
  made.name = made.beside = name;
  made.points = std::move(points);
  return made;
}

const std::vector<Line> kLines = {line("nic", {{2, 10}, {4, 20}, {8, 30}}), line("host", {{2, 9}, {4, 40}, {8, 90}}),
                                  line("flat", {{2, 100}, {4, 104}, {8, 98}})};

TEST(ReproduceFinding, NumbersWithinTenPercentAreReproduced) {
  EXPECT_EQ(judge(number(25.72), Json::object(), 26.16).outcome, Outcome::kReproduced);
  EXPECT_EQ(judge(number(25.72), Json::object(), 26.16).difference, "+2 %");
  EXPECT_EQ(judge(number(5.6), Json::object(), 6.3).outcome, Outcome::kInPart);
  EXPECT_EQ(judge(number(55, "%"), Json::object(), 4.85).outcome, Outcome::kNot);
  EXPECT_EQ(judge(number(20, "processes"), {{"factor", 2}}, 39).outcome, Outcome::kReproduced);
  EXPECT_EQ(judge(number(20, "processes"), {{"factor", 2}}, 41).outcome, Outcome::kNot);
}

TEST(ReproduceFinding, FactorsCountInPartOnTheSameSideOfOneOnly) {
  EXPECT_EQ(judge(number(3.38, "times"), Json::object(), 1.3).outcome, Outcome::kInPart);
  EXPECT_EQ(judge(number(1.86, "times"), Json::object(), 0.94).outcome, Outcome::kNot);
  EXPECT_EQ(judge(number(1.06, "times"), Json::object(), 0.98).outcome, Outcome::kReproduced) << "within ten percent";
}

TEST(ReproduceFinding, BoundsHoldOrNot) {
  EXPECT_EQ(judge(number(10, "%", ">="), Json::object(), 30).outcome, Outcome::kReproduced);
  EXPECT_EQ(judge(number(10, "%", ">="), Json::object(), 6).outcome, Outcome::kInPart);
  EXPECT_EQ(judge(number(10, "%", ">="), Json::object(), 4).outcome, Outcome::kNot);
}

TEST(ReproduceFinding, OrdersAtAllPointsOrAtMost) {
  const Finding finding = find(order("nic", "host"), Json::object(), kLines);
  EXPECT_EQ(finding.outcome, Outcome::kInPart);
  EXPECT_EQ(finding.text, "2 of 3 (0.9 to 3 times)");
  EXPECT_EQ(find(order("nic", "host"), {{"from", 4}}, kLines).outcome, Outcome::kReproduced);
  EXPECT_EQ(find(order("host", "nic"), {{"from", 4}}, kLines).outcome, Outcome::kNot);
  EXPECT_FALSE(find(order("nic", "nobody"), Json::object(), kLines).is_there());
  Claim placed = order("host", "nic");
  placed.places = {2};
  EXPECT_EQ(find(placed, Json::object(), kLines).outcome, Outcome::kReproduced);
}

TEST(ReproduceFinding, LinesThatGrowFallOrStayTheSame) {
  EXPECT_EQ(find(relation("grows"), {{"of", "nic"}}, kLines).outcome, Outcome::kReproduced);
  EXPECT_EQ(find(relation("falls"), {{"of", "nic"}}, kLines).outcome, Outcome::kNot);
  EXPECT_EQ(find(relation("about"), {{"of", "flat"}}, kLines).outcome, Outcome::kReproduced);
  EXPECT_EQ(find(relation("about"), {{"of", "nic"}}, kLines).outcome, Outcome::kNot);
  EXPECT_EQ(find(relation("about"), {{"of", "nic"}, {"against", "host"}}, kLines).outcome, Outcome::kInPart);
  EXPECT_FALSE(find(relation("about"), Json::object(), kLines).is_there());
}

TEST(ReproduceFinding, RecipesTakeNumbersOfLines) {
  const auto value = [](const Json& recipe) { return find(number(1), recipe, kLines).value.value_or(-1); };
  EXPECT_EQ(value({{"of", "nic"}, {"at", 4}}), 20);
  EXPECT_EQ(value({{"of", "nic"}, {"at", 4}, {"minus_at", 2}}), 10);
  EXPECT_EQ(value({{"of", "host"}, {"over", "nic"}, {"at", 8}}), 3);
  EXPECT_NEAR(value({{"of", "nic"}, {"below", "host"}, {"at", 8}}), 100 * (1 - 30.0 / 90), 1e-9);
  EXPECT_EQ(value({{"of", "nic"}, {"over", "host"}, {"take", "from"}}), 4);
  EXPECT_EQ(value({{"of", "host"}, {"over", "nic"}, {"take", "until"}}), 2);
  EXPECT_EQ(value({{"of", "nic"}, {"over", "host"}, {"take", "until"}}), 0) << "not even at the first";
  EXPECT_EQ(value({{"of", "flat"}, {"take", "most"}, {"divide", 2}}), 52);
  EXPECT_EQ(value({{"of", "nic"}, {"at", 3}}), -1);
  const Json counts = {{"of", "nic"}, {"equals", {10, 20, 30}}};
  EXPECT_EQ(find(number(1), counts, kLines).outcome, Outcome::kReproduced);
  EXPECT_EQ(find(number(1), {{"of", "nic"}, {"equals", {10, 20, 31}}}, kLines).outcome, Outcome::kInPart);
}

TEST(ReproduceFinding, TheBestAndTheWorstOfLines) {
  const Json best = {{"best_of", {"nic", "host", "flat"}}, {"expected", {"nic"}}};
  EXPECT_EQ(find(relation(""), best, kLines).text, "2 of 3");
  EXPECT_EQ(find(relation(""), best, kLines).outcome, Outcome::kInPart);
  const Json worst = {{"worst_of", {"nic", "host", "flat"}}, {"expected", {"flat"}}};
  EXPECT_EQ(find(relation(""), worst, kLines).outcome, Outcome::kReproduced);
  EXPECT_FALSE(find(relation(""), {{"best_of", {"nobody"}}}, kLines).is_there());
  const Json nearly = {{"of", "host"}, {"take", "nearly_most"}, {"factor", 2}};
  EXPECT_EQ(find(number(5, "nodes", ">="), nearly, kLines).value.value_or(0), 8);
  EXPECT_EQ(find(number(5, "nodes", ">="), nearly, kLines).outcome, Outcome::kReproduced);
  EXPECT_EQ(find(number(3, "nodes", ">="), nearly, kLines).outcome, Outcome::kNot);
}

class ReproduceVerdict : public testing::Test {
 protected:
  void add(Role role, Outcome model, Outcome measured = Outcome::kUnknown) {
    Claim& claim = claims_.emplace_back(number(2));
    claim.role = role;
    Compared& compared = comparison_.claims.emplace_back();
    compared.claim = &claim;
    compared.model.outcome = model;
    compared.measured.outcome = measured;
    if (model == Outcome::kUnknown) compared.why_no_model = "no model yet";
  }
  pages::Verdict verdict() {
    comparison_.item = &item_;
    judge(comparison_);
    return comparison_.verdict;
  }

  Item item_;
  std::deque<Claim> claims_;
  Comparison comparison_;
};

TEST_F(ReproduceVerdict, IsWholeOnlyIfAllThatIsToBePredictedComesOut) {
  add(Role::kPredict, Outcome::kReproduced);
  add(Role::kFit, Outcome::kInPart);
  add(Role::kSetting, Outcome::kUnknown);
  EXPECT_EQ(verdict(), pages::Verdict::kReproduced);
  add(Role::kPredict, Outcome::kUnknown);
  EXPECT_EQ(verdict(), pages::Verdict::kInPart);
  EXPECT_NE(comparison_.why.find("no model yet"), std::string::npos);
}

TEST_F(ReproduceVerdict, IsNotWholeIfWhatMayBeFittedIsMissed) {
  add(Role::kPredict, Outcome::kReproduced);
  add(Role::kFit, Outcome::kNot);
  EXPECT_EQ(verdict(), pages::Verdict::kInPart);
  EXPECT_NE(comparison_.why.find("1 of 1"), std::string::npos);
}

TEST_F(ReproduceVerdict, IsNotReproducedIfNothingComesOut) {
  add(Role::kPredict, Outcome::kNot);
  EXPECT_EQ(verdict(), pages::Verdict::kNotReproduced);
}

TEST_F(ReproduceVerdict, CountsAloneSayNothingOfAFigure) {
  add(Role::kCount, Outcome::kReproduced);
  EXPECT_EQ(verdict(), pages::Verdict::kReproduced);
  add(Role::kPredict, Outcome::kUnknown);
  EXPECT_EQ(verdict(), pages::Verdict::kNotReproduced);
}

TEST_F(ReproduceVerdict, MeasurementsAloneReproduceInPartAtMost) {
  add(Role::kPredict, Outcome::kUnknown, Outcome::kReproduced);
  EXPECT_EQ(verdict(), pages::Verdict::kInPart);
}

TEST_F(ReproduceVerdict, ThereIsNoneWithoutAClaimToJudge) {
  add(Role::kSetting, Outcome::kUnknown);
  add(Role::kFit, Outcome::kReproduced);
  EXPECT_EQ(verdict(), pages::Verdict::kNone);
}

}  // namespace
}  // namespace hocket::reproduce
