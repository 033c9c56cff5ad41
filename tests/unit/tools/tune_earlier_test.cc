// SPDX-License-Identifier: BSD-3-Clause
#include "tune/earlier.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace hocket::command {
namespace {

Measurement measured(uint64_t bytes, const std::string& variant, double isolated_us, double back_to_back_us) {
  Measurement one;
  one.collective = schedule::Collective::kAlltoall;
  one.ranks = 8;
  one.nodes = std::make_shared<const schedule::Nodes>(std::vector<uint64_t>{0, 0, 0, 0, 1, 1, 1, 1});
  one.oversubscribed = true;
  one.bytes = bytes;
  one.variant = variant;
  one.isolated_us = isolated_us;
  one.back_to_back_us = back_to_back_us;
  one.wobble = 1.1;
  return one;
}

Survey survey_of(const std::string& mpi, std::vector<Measurement> measurements) {
  Survey survey;
  survey.mpi = mpi;
  survey.took_s = 10;
  survey.measurements = std::move(measurements);
  return survey;
}

using Cells = std::set<std::string>;
Cells left(const std::vector<Survey>& surveys) {
  Cells found;
  for (const Measurement& one : together(surveys).measurements)
    found.insert(one.variant + " " + std::to_string(one.bytes));
  return found;
}

TEST(EarlierRuns, TimesOfOneCellAreGeometricMeans) {
  const Survey all = together({survey_of("A", {measured(8, "leader", 2, 4), measured(8, "linear", 10, 10)}),
                               survey_of("B", {measured(8, "leader", 8, 1), measured(8, "linear", 10, 40)})});
  ASSERT_EQ(all.measurements.size(), 2u);
  EXPECT_EQ(all.measurements[0].variant, "leader");
  EXPECT_NEAR(all.measurements[0].isolated_us, 4, 1e-9);
  EXPECT_NEAR(all.measurements[0].back_to_back_us, 2, 1e-9);
  EXPECT_NEAR(all.measurements[1].back_to_back_us, 20, 1e-9);
  EXPECT_EQ(all.mpi, "A; B");
  EXPECT_EQ(all.took_s, 20);
  EXPECT_EQ(all.cells_measured, 1u);
}

// Times under one MPI alone would be compared with times under another.
TEST(EarlierRuns, AnAlgorithmThatOneLeftOutOfACellIsLeftOutThere) {
  EXPECT_EQ(
      left({survey_of("A", {measured(8, "leader", 2, 2), measured(8, "linear", 3, 3), measured(8, "bruck", 1, 1)}),
            survey_of("B", {measured(8, "leader", 8, 8), measured(8, "linear", 7, 7)})}),
      (Cells{"leader 8", "linear 8"}));
}

TEST(EarlierRuns, ACellThatAnMpiDidNotReachIsLeftOut) {
  EXPECT_EQ(left({survey_of("A", {measured(8, "leader", 2, 2), measured(64, "bruck", 1, 1)}),
                  survey_of("B", {measured(8, "leader", 8, 8)}), survey_of("A", {measured(512, "bruck", 1, 1)})}),
            (Cells{"leader 8"}));
  EXPECT_EQ(left({survey_of("A", {measured(8, "leader", 2, 2)}), survey_of("A", {measured(64, "leader", 8, 8)})}),
            (Cells{"leader 8", "leader 64"}))
      << "runs under one MPI complement each other";
}

TEST(EarlierRuns, AnAlgorithmThatNothingIsLeftToCompareWithIsNoWinner) {
  EXPECT_EQ(left({survey_of("A", {measured(8, "leader", 9, 9)}),
                  survey_of("B", {measured(8, "leader", 8, 8), measured(8, "bruck", 1, 1)})}),
            Cells{});
}

class EarlierFile : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "hocket-earlier-" + std::to_string(getpid()) + ".json"; }
  void TearDown() override { unlink(path_.c_str()); }
  Result<Survey> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_survey(path_);
  }
  static std::string run_with(const std::string& row) {
    return R"({"mpi": "M", "wire": "m", "took_s": 3, "cells": 2, "cells_measured": 1, "measurements": [)" + row + "]}";
  }
  static std::string row(const std::string& collective, int ranks, double isolated_us) {
    return R"({"collective": ")" + collective + R"(", "ranks": )" + std::to_string(ranks) +
           R"(, "nodes": 2, "ranks_a_node": 4, "crowded": true, "bytes": 8, "variant": "leader", "isolated_us": )" +
           std::to_string(isolated_us) + R"(, "back_to_back_us": 2, "calls": 5, "wobble": 1.2})";
  }

  std::string path_;
};

TEST_F(EarlierFile, IsReadBack) {
  const Result<Survey> survey = read(run_with(row("alltoall", 8, 1.5)));
  ASSERT_TRUE(survey.is_ok()) << survey.status().message();
  ASSERT_EQ(survey.value().measurements.size(), 1u);
  const Measurement& one = survey.value().measurements[0];
  EXPECT_EQ(one.collective, schedule::Collective::kAlltoall);
  EXPECT_EQ(one.node_count(), 2u);
  EXPECT_EQ(one.ranks_a_node(), 4u);
  EXPECT_EQ(one.isolated_us, 1.5);
  EXPECT_EQ(one.variant, "leader");
}

TEST_F(EarlierFile, ThatIsNoneIsRefusedWithItsNameAndTheReason) {
  const auto expect_refused = [&](const std::string& text, const std::string& reason) {
    const Result<Survey> survey = read(text);
    ASSERT_FALSE(survey.is_ok()) << text;
    const std::string message = survey.status().message();
    EXPECT_NE(message.find(path_), std::string::npos) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  };
  expect_refused("not JSON", "parse error");
  expect_refused("{}", "mpi");
  expect_refused(run_with(""), "no measurements");
  expect_refused(run_with(row("alltoall", 9, 1)), "9 ranks are not 2 nodes of 4");
  expect_refused(run_with(row("all", 8, 1)), "`all` is no collective");
  expect_refused(run_with(row("alltoall", 8, 0)), "a time is not above 0");
  unlink(path_.c_str());
  EXPECT_FALSE(read_survey(path_).is_ok());
}

}  // namespace
}  // namespace hocket::command
