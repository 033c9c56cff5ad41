// SPDX-License-Identifier: BSD-3-Clause
#include "pages/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "pages/scale.h"
#include "tools/balanced_tags.h"

namespace hocket::pages {
namespace {

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Chart latencies() {
  return {"Latency",
          {"ranks", "", ScaleKind::kLog2},
          {"time", "us"},
          {{"model", {{2, 3.5, 3, 4}, {4, 7}, {8, 10.5}}, Style::kLine}, {"paper", {{8, 11}}, Style::kMarkers}},
          {}};
}

TEST(PagesScale, TicksCoverTheDataAndLieOnTheAxis) {
  const std::pair<double, double> ranges[] = {{0, 1},      {-3, 17},  {0.001, 0.0013}, {5, 5},
                                              {1e-9, 3e9}, {0.3, 90}, {7, 7e4}};
  for (const ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog2, ScaleKind::kLog10, ScaleKind::kBytes}) {
    for (const auto& [lowest, highest] : ranges) {
      if (!Scale::can_show(kind, lowest)) continue;
      for (int most = 2; most <= 9; ++most) {
        const Scale scale = Scale::make(kind, lowest, highest, most);
        EXPECT_GE(scale.place_of(lowest), -1e-9) << lowest << " to " << highest;
        EXPECT_LE(scale.place_of(highest), 1 + 1e-9) << lowest << " to " << highest;
        EXPECT_GE(scale.ticks().size(), 1U);
        EXPECT_LE(scale.ticks().size(), static_cast<size_t>(most) + 1);
        double before = -1;
        for (const Tick& tick : scale.ticks()) {
          EXPECT_GT(scale.place_of(tick.value), before);
          before = scale.place_of(tick.value);
        }
        EXPECT_LE(before, 1 + 1e-9);
      }
    }
  }
}

TEST(PagesScale, WritesTicksAsPeopleReadThem) {
  const auto labels = [](const Scale& scale) {
    std::string text;
    for (const Tick& tick : scale.ticks()) text += tick.label + " ";
    return text;
  };
  EXPECT_EQ(labels(Scale::make(ScaleKind::kLinear, 0, 77, 5)), "0 20 40 60 80 ");
  EXPECT_EQ(labels(Scale::make(ScaleKind::kLinear, 0, 1, 6)), "0 0.2 0.4 0.6 0.8 1.0 ");
  EXPECT_EQ(labels(Scale::make(ScaleKind::kLog2, 2, 16, 6)), "2 4 8 16 ");
  EXPECT_EQ(labels(Scale::make(ScaleKind::kBytes, 512, 4096, 6)), "512 1K 2K 4K ");
  EXPECT_EQ(labels(Scale::make(ScaleKind::kLog10, 0.02, 900, 7)), "0.01 0.1 1 10 100 1000 ");
  EXPECT_EQ(labels(Scale::make(ScaleKind::kLog10, 3, 40, 7)), "2 5 10 20 50 ");
}

TEST(PagesScale, LogarithmicOnesHaveNoPlaceForZeroAndLess) {
  for (const double value : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(Scale::can_show(ScaleKind::kLog10, value));
  EXPECT_TRUE(Scale::can_show(ScaleKind::kLinear, 0));
  EXPECT_TRUE(Scale::can_show(ScaleKind::kLinear, -1));
}

TEST(PagesChart, IsBalancedAndTheSameEachTime) {
  const std::string svg = chart_svg(latencies());
  EXPECT_EQ(what_is_unbalanced(svg), "");
  EXPECT_EQ(svg, chart_svg(latencies()));
  EXPECT_EQ(count_of(svg, "class=\"mark "), 4 + 2U);  // and two in the legend
  EXPECT_EQ(count_of(svg, "class=\"spread "), 1U);
  EXPECT_NE(svg.find("time (us)"), std::string::npos);
}

TEST(PagesChart, SaysWhichPointsItLeavesOutAndInterruptsTheLine) {
  Chart chart = latencies();
  chart.y.scale = ScaleKind::kLog10;
  chart.series[0].points[1].y = 0;
  const std::string svg = chart_svg(chart);
  EXPECT_NE(svg.find("Not shown of model: 1 of 3 points"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("Not shown of paper"), std::string::npos);
  const size_t line = svg.find("class=\"line c0\" d=\"");
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(count_of(svg.substr(line, svg.find("/>", line) - line), "M"), 2U);
}

TEST(PagesChart, ShowsWhatHasNothingToShow) {
  Chart chart = latencies();
  chart.series = {{"empty", {}, Style::kLine}, {"wild", {{1, std::nan("")}}, Style::kMarkers}};
  const std::string svg = chart_svg(chart);
  EXPECT_EQ(what_is_unbalanced(svg), "");
  EXPECT_NE(svg.find("nothing to show"), std::string::npos);
  EXPECT_NE(svg.find("empty (no points)"), std::string::npos);
  EXPECT_NE(svg.find("Not shown of wild: 1 of 1 point,"), std::string::npos);
  EXPECT_EQ(what_is_unbalanced(chart_svg(Chart{})), "");
}

TEST(PagesChart, OnePointIsEnoughOnEachScale) {
  for (const ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog2, ScaleKind::kLog10, ScaleKind::kBytes}) {
    const std::string svg =
        chart_svg({"one", {"x", "", kind}, {"y", "", kind}, {{"only", {{16, 23}}, Style::kMarkers}}, {}});
    EXPECT_EQ(count_of(svg, "class=\"mark "), 2U);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

TEST(PagesChart, TenSeriesDifferInColourOrMarker) {
  Chart chart = latencies();
  chart.series.clear();
  for (int index = 0; index < 10; ++index)
    chart.series.push_back({"series " + std::to_string(index), {{2, 1.0 + index}}, Style::kMarkers});
  const std::string svg = chart_svg(chart);
  EXPECT_EQ(what_is_unbalanced(svg), "");
  std::set<std::string> looks;
  for (size_t at = svg.find("class=\"mark "); at != std::string::npos; at = svg.find("class=\"mark ", at + 1)) {
    const size_t form = svg.find('m', svg.find("d=\"M", at) + 4);
    looks.insert(svg.substr(at + 12, 2) + svg.substr(form, svg.find('"', form) - form));
  }
  EXPECT_EQ(looks.size(), 10U);
}

TEST(PagesChart, BarsOfNumbersStandOverTheirNumbers) {
  const std::string svg = chart_svg(
      {"bars", {"nodes", ""}, {"y", ""}, {{"a", {{16, 3}, {2, -1}}, Style::kBars}, {"b", {{4, 2}}, Style::kBars}}, {}});
  EXPECT_EQ(what_is_unbalanced(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"bar "), 3 + 2U);
  EXPECT_NE(svg.find("<title>a: 16, 3</title>"), std::string::npos);
  EXPECT_EQ(svg.find("height=\"-"), std::string::npos);
}

TEST(PagesChart, EscapesHostileNames) {
  Chart chart = latencies();
  chart.title = chart.x.label = chart.series[0].name = "</svg><script>\"'&\x1b[31m\xff";
  const std::string svg = chart_svg(chart);
  EXPECT_EQ(what_is_unbalanced(svg), "");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace hocket::pages
