// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/figure.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/size_text.h"
#include "pages/text.h"

namespace hocket::reproduce {
namespace {

// More nobody reads.
constexpr size_t kMostRows = 24;

struct Shown {
  std::string name;
  const Line* line;
  pages::Style style;
};

void add_lines(const char* whose, const std::vector<Line>& lines, pages::Style style, std::vector<Shown>& shown) {
  for (const Line& line : lines)
    if (!line.points.empty()) shown.push_back({whose + line.name, &line, style});
}

std::vector<Shown> of_model(const Comparison& comparison) {
  std::vector<Shown> shown;
  add_lines("model: ", comparison.model, pages::Style::kLine, shown);
  return shown;
}

std::vector<Shown> of_paper(const Comparison& comparison) {
  std::vector<Shown> shown;
  add_lines("paper: ", comparison.item->lines, pages::Style::kMarkers, shown);
  return shown;
}

std::vector<Shown> measured_here(const Comparison& comparison) {
  std::vector<Shown> shown;
  add_lines("here: ", comparison.measured, pages::Style::kDashed, shown);
  return shown;
}

void append(std::vector<Shown>& all, std::vector<Shown> more) { all.insert(all.end(), more.begin(), more.end()); }

bool is_bytes(const Item& item) { return item.x_label.find("bytes") != std::string::npos; }

bool spans(double least, double most, double factor) { return least > 0 && most / least > factor; }

void choose_scales(const Item& item, pages::Chart& chart) {
  double least_x = INFINITY, most_x = -INFINITY, least_y = INFINITY, most_y = -INFINITY;
  for (const pages::Series& series : chart.series) {
    for (const pages::Point& point : series.points) {
      least_x = std::min(least_x, point.x);
      most_x = std::max(most_x, point.x);
      least_y = std::min(least_y, point.y);
      most_y = std::max(most_y, point.y);
    }
  }
  if (least_x > 0 && is_bytes(item))
    chart.x.scale = pages::ScaleKind::kBytes;
  else if (spans(least_x, most_x, 32) && item.x_label != "rank")
    chart.x.scale = pages::ScaleKind::kLog2;
  if (spans(least_y, most_y, 10)) chart.y.scale = pages::ScaleKind::kLog10;
}

std::string x_text(const Item& item, double x) {
  const bool is_size = is_bytes(item) && x >= 1 && x == std::floor(x);
  return is_size ? size_to_text(static_cast<uint64_t>(x)) : pages::number_text(x);
}

pages::Chart chart_of(const Item& item, const char* title, const std::vector<Shown>& lines) {
  pages::Chart chart;
  chart.title = title;
  chart.x.label = item.x_label;
  chart.y.label = item.y_label.empty() ? item.unit : item.y_label;
  for (const Shown& shown : lines) {
    if (!shown.line->unit.empty() && shown.line->unit != item.unit) continue;
    pages::Series& series = chart.series.emplace_back();
    series.name = shown.name;
    series.style = shown.style;
    for (const auto& [x, y] : shown.line->points) series.points.push_back({x, y});
  }
  choose_scales(item, chart);
  return chart;
}

}  // namespace

std::vector<pages::Chart> charts_of(const Comparison& comparison) {
  std::vector<Shown> left = of_paper(comparison);
  append(left, of_model(comparison));
  // The model may be of something else than the paper's figure.
  Item own = *comparison.item;
  own.unit = own.model.value("unit", own.unit);
  if (own.unit != comparison.item->unit) own.y_label = own.unit;
  std::vector<pages::Chart> charts = {chart_of(own, "Paper and model", left),
                                      chart_of(*comparison.item, "Measured here", measured_here(comparison))};
  std::erase_if(charts, [](const pages::Chart& chart) { return chart.series.empty(); });
  return charts;
}

std::optional<pages::Table> lines_table(const Comparison& comparison) {
  std::vector<Shown> shown = of_model(comparison);
  append(shown, measured_here(comparison));
  append(shown, of_paper(comparison));
  if (shown.empty()) return std::nullopt;
  const Item& item = *comparison.item;
  pages::Table table;
  table.caption = "The lines" + (item.unit.empty() ? "" : ", " + item.unit);
  table.headers = {item.x_label};
  std::set<double> places, wanted;
  for (const Shown& one : shown) {
    const bool is_models = one.style == pages::Style::kLine && item.model.contains("unit");
    const std::string unit = is_models ? item.model["unit"].get<std::string>() : one.line->unit;
    table.headers.push_back(one.name + (unit.empty() ? "" : ", " + unit));
    for (const auto& [x, y] : one.line->points) {
      places.insert(x);
      if (one.style == pages::Style::kMarkers) wanted.insert(x);
    }
  }
  const size_t step = (places.size() + kMostRows - 1) / kMostRows;
  if (step > 1) table.caption += ", each " + std::to_string(step) + "th row";
  size_t number = 0;
  for (const double x : places) {
    const bool is_last = number + 1 == places.size();
    if (number++ % step != 0 && !is_last && !wanted.contains(x)) continue;
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(x_text(item, x));
    for (const Shown& one : shown) {
      const std::optional<double> y = one.line->at(x);
      row.push_back(y ? pages::number_text(*y) : "");
    }
  }
  return table;
}

}  // namespace hocket::reproduce
