// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/results.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "reproduce/rows.h"

namespace hocket::reproduce {
namespace {

const Json kRows = Json::parse(R"([
  {"variant": "nic", "nodes": 2, "mean_us": 3.0, "rank_us": [0, 5, 7, 6]},
  {"variant": "nic", "nodes": 4, "mean_us": 12.0},
  {"variant": "host", "nodes": 4, "mean_us": 24.0},
  {"variant": "host", "nodes": 2, "mean_us": 5.0},
  "no row", {"variant": "nic", "nodes": "many", "mean_us": 1}
])");

Json parsed(const char* text) { return Json::parse(text); }

TEST(ReproduceRows, ChoosesRowsInTheOrderOfX) {
  const auto points = points_of(kRows, parsed(R"({"where": {"variant": "host"}, "x": "nodes", "y": "mean_us"})"), {});
  EXPECT_EQ(points, (std::vector<std::pair<double, double>>{{2, 5}, {4, 24}}));
  const auto levels = points_of(kRows, parsed(R"({"where": {"variant": "nic"}, "x": "depth", "y": "mean_us"})"),
                                parsed(R"({"depth": "nodes - 1"})"));
  EXPECT_EQ(levels, (std::vector<std::pair<double, double>>{{1, 3}, {3, 12}}));
}

TEST(ReproduceRows, TakesElementsOfLists) {
  EXPECT_EQ(number_of(kRows[0], "rank_us[1]"), 5);
  EXPECT_EQ(number_of(kRows[0], "rank_us[-1]"), 6);
  EXPECT_FALSE(number_of(kRows[0], "rank_us[4]"));
  EXPECT_FALSE(number_of(kRows[1], "rank_us[1]"));
  const auto ranks = points_of(kRows, parsed(R"({"where": {"nodes": 2}, "x": "index", "y": "rank_us[]"})"), {});
  EXPECT_EQ(ranks, (std::vector<std::pair<double, double>>{{1, 5}, {2, 7}, {3, 6}}));
}

TEST(ReproduceRows, RatiosSlopesAndSpreads) {
  const Json ratio =
      parsed(R"({"over": {"variant": "host", "nodes": 4}, "under": {"variant": "nic", "nodes": 4}, "y": "mean_us"})");
  EXPECT_EQ(ratio_of(kRows, ratio), 2);
  Json less = ratio;
  less["as"] = "100 (1 - over/under)";
  EXPECT_EQ(ratio_of(kRows, less), -100);
  less["under"]["nodes"] = 8;
  EXPECT_FALSE(ratio_of(kRows, less));
  const Json slope =
      parsed(R"({"of": {"variant": "host"}, "minus": {"variant": "nic"}, "x": "nodes", "y": "mean_us"})");
  EXPECT_DOUBLE_EQ(slope_of(kRows, slope, {}).value_or(0), 9.5 - 4.5);
  const Json first = parsed(R"({"where": {"nodes": 2}, "of": "1 - least rank_us[i] / greatest, i > 0"})");
  EXPECT_NEAR(spread_of(kRows, first).value_or(0), 100 * (1 - 5.0 / 7), 1e-9);
  const Json off = parsed(R"({"where": {"nodes": 2}, "of": "greatest |rank_us[i] / median - 1|, i > 0"})");
  EXPECT_NEAR(spread_of(kRows, off).value_or(0), 100.0 / 6, 1e-9);
}

class ReproduceResults : public testing::Test {
 protected:
  ReproduceResults()
      : folder_(std::filesystem::temp_directory_path() / ("reproduce-results-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    write("rows.json", kRows.dump());
    write("broken.json", "[{");
    write("page.md",
          "## Times\n| ranks | bytes | us |\n|---|---|---|\n| 4 | 1 KiB | 2.0 / 1.0 |\n| 8 | 1 KiB | 4.0 / 2.0 |\n\n"
          "## Turned\n| bytes | 1 | 1K |\n|---|---|---|\n| bruck | 7* | 90 |\n| linear | 20 | **50**\\* |\n");
  }
  ~ReproduceResults() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  std::vector<Line> lines(const char* measured) const {
    Results results(folder_.string());
    return results.lines_of(parsed(measured));
  }

  std::filesystem::path folder_;
};

TEST_F(ReproduceResults, LinesOfPages) {
  const std::vector<Line> one = lines(R"({"file": "bench/results/page.md", "table": "## Times",
    "series": [{"name": "ours", "row": {"ranks": 8}, "x": "bytes", "y": "us", "part": 2, "beside": "theirs"}]})");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].points, (std::vector<std::pair<double, double>>{{1024, 2}}));
  EXPECT_EQ(one[0].beside, "theirs");
  const std::vector<Line> turned = lines(R"({"file": "bench/results/page.md", "table": "## Turned", "transposed": true,
    "series": [{"name": "chosen", "row": "*"}, {"name": "bruck", "row": "bruck"}]})");
  EXPECT_EQ(turned[0].points, (std::vector<std::pair<double, double>>{{1, 7}, {1024, 50}}));
  EXPECT_EQ(turned[1].points, (std::vector<std::pair<double, double>>{{1, 7}, {1024, 90}}));
  const std::vector<Line> cells = lines(R"({"file": "bench/results/page.md",
    "series": [{"name": "single", "cells": [{"x": 4, "table": "## Times", "row": {"ranks": 4}, "y": "us"}]}]})");
  EXPECT_EQ(cells[0].points, (std::vector<std::pair<double, double>>{{4, 2}}));
}

TEST_F(ReproduceResults, SayWhatIsMissing) {
  constexpr const char* kSeries = R"("series": [{"name": "a", "where": {}, "x": "nodes", "y": "mean_us"}]})";
  const auto problem = [&](const std::string& file) {
    return lines(("{\"file\": \"bench/results/" + file + "\", " + kSeries).c_str())[0].problem;
  };
  EXPECT_EQ(problem("rows.json"), "");
  EXPECT_NE(problem("nowhere.json").find("can't read"), std::string::npos);
  EXPECT_NE(problem("broken.json").find("no list of rows"), std::string::npos);
  Results none("");
  EXPECT_NE(none.lines_of(parsed((std::string("{\"file\": \"bench/results/rows.json\", ") + kSeries).c_str()))[0]
                .problem.find("--results"),
            std::string::npos);
  EXPECT_NE(lines(R"({"file": "bench/results/rows.json", "series": [{"name": "a", "where": {"variant": "none"},
    "x": "nodes", "y": "mean_us"}]})")[0]
                .problem.find("no row"),
            std::string::npos);
}

TEST_F(ReproduceResults, WhatIsMeasuredAnewTakesThePlaceOfWhatIsKept) {
  write("new.json", R"([{"nodes": 2, "mean_us": 1.5}])");
  Results results(folder_.string());
  results.put("bench/results/rows.json", (folder_ / "new.json").string());
  const Json measured = parsed(
      R"({"file": "bench/results/rows.json", "series": [{"name": "a", "where": {}, "x": "nodes", "y": "mean_us"}]})");
  EXPECT_EQ(results.lines_of(measured)[0].points, (std::vector<std::pair<double, double>>{{2, 1.5}}));
}

}  // namespace
}  // namespace hocket::reproduce
