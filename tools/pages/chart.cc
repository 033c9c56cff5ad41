// SPDX-License-Identifier: BSD-3-Clause
#include "pages/chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pages/drawing.h"
#include "pages/plot.h"
#include "pages/text.h"

namespace hocket::pages {
namespace {

constexpr double kWidth = 400;
constexpr double kPlotHeight = 220;
constexpr double kEdge = 4;
constexpr double kLine = 17;        // from one line of text to the next
constexpr double kLegendLine = 21;  // the same, of the legend
constexpr double kSampleRoom = 34;  // for a series' sample, and what parts it from the name
constexpr double kBetweenEntries = 14;
constexpr int kMostTicksOfX = 9;
constexpr int kMostTicksOfY = 7;
// Of names below the axis that have no room beside each other.
constexpr double kSlantCosine = 0.819;  // 35 degrees
constexpr double kSlantSine = 0.574;
constexpr double kLongestSlanted = 130;

// Bars on an axis of numbers stand beside each other as names do.
Chart with_categories(const Chart& chart) {
  Chart made = chart;
  const auto has_bars = [](const Series& each) { return each.style == Style::kBars; };
  if (!chart.categories.empty() || std::none_of(chart.series.begin(), chart.series.end(), has_bars)) return made;
  std::vector<double> values;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (std::isfinite(point.x)) values.push_back(point.x);
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (const double value : values) made.categories.push_back(number_text(value));
  for (Series& series : made.series) {
    for (Point& point : series.points) {
      if (!std::isfinite(point.x)) continue;
      point.x = static_cast<double>(std::lower_bound(values.begin(), values.end(), point.x) - values.begin());
    }
  }
  return made;
}

std::string full_label(const Axis& axis) {
  if (axis.unit.empty()) return axis.label;
  return axis.label.empty() ? axis.unit : axis.label + " (" + axis.unit + ")";
}

struct Range {
  double lowest = 0;
  double highest = 0;
  bool is_empty = true;

  void add(double value) {
    lowest = is_empty ? value : std::min(lowest, value);
    highest = is_empty ? value : std::max(highest, value);
    is_empty = false;
  }
};

class ChartWriter {
 public:
  explicit ChartWriter(const Chart& chart) : chart_(with_categories(chart)) {
    for (const std::string& name : chart_.categories) categories_.push_back(printable(name));
  }

  std::string write() {
    title();
    place_plot();
    grid();
    x_labels();
    body_ += draw_series(chart_, plot_);
    if (!plot_.y_scale) body_ += text_element(middle(), (plot_.top + plot_.bottom) / 2, kCentred, "nothing to show");
    legend();
    notes();
    const std::string height = coordinate(height_ + kEdge);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 " +
           coordinate(kWidth) + " " + height + "\" aria-label=\"" + escaped(spoken()) + "\">\n" + body_ + "</svg>\n";
  }

 private:
  static constexpr const char* kCentred = "text-anchor=\"middle\"";

  double middle() const { return (plot_.left + plot_.right) / 2; }

  std::string spoken() const {
    std::string text = chart_.title + ". " + full_label(chart_.y) + " against " + full_label(chart_.x) + ":";
    for (const Series& series : chart_.series) text += (&series == chart_.series.data() ? " " : ", ") + series.name;
    return text;
  }

  // A line of text; `height_` is where the next one begins.
  void line(double x, std::string_view attributes, std::string_view text, double advance = kLine) {
    height_ += advance;
    body_ += text_element(x, height_ - 4, attributes, text);
  }

  void title() {
    for (const std::string& each : wrapped(chart_.title, kWidth - 2 * kEdge, kTitleSize * 1.05))
      line(kEdge, "class=\"title\"", each, kLine + 2);
    for (const std::string& each : wrapped(full_label(chart_.y), kWidth - 2 * kEdge)) line(kEdge, "", each);
  }

  void place_plot() {
    Range x;
    Range y;
    for (const Series& series : chart_.series) {
      for (const Point& point : series.points) {
        if (!can_show(chart_, point)) continue;
        x.add(point.x);
        for (const double value : {point.y, point.low, point.high}) {
          if (Scale::can_show(chart_.y.scale, value)) y.add(value);
        }
      }
    }
    plot_.top = height_ + 10;
    plot_.bottom = plot_.top + kPlotHeight;
    height_ = plot_.bottom;
    plot_.categories = categories_.size();
    plot_.left = 30;
    plot_.right = kWidth - 14;
    if (y.is_empty) return;
    if (chart_.y.scale == ScaleKind::kLinear) y.add(0);
    plot_.y_scale = Scale::make(chart_.y.scale, y.lowest, y.highest, kMostTicksOfY);
    for (const Tick& tick : plot_.y_scale->ticks()) plot_.left = std::max(plot_.left, text_width(tick.label) + 10);
    if (plot_.categories == 0)
      choose_x_scale(x);
    else
      place_names();
  }

  // With as many numbers as have room beside each other.
  void choose_x_scale(const Range& x) {
    for (int most = kMostTicksOfX; most >= 2; --most) {
      plot_.x_scale = Scale::make(chart_.x.scale, x.lowest, x.highest, most);
      const std::vector<Tick>& ticks = plot_.x_scale->ticks();
      plot_.right = kWidth - std::max(kEdge + 4, text_width(ticks.back().label) / 2 - 6);
      bool has_room = true;
      for (size_t index = 1; index < ticks.size(); ++index) {
        const double needed = (text_width(ticks[index - 1].label) + text_width(ticks[index].label)) / 2 + 8;
        has_room &= plot_.across(ticks[index].value) - plot_.across(ticks[index - 1].value) >= needed;
      }
      if (has_room) return;
    }
  }

  void place_names() {
    for (const std::string& name : categories_) is_slanted_ |= text_width(name) > plot_.width_of_category() - 4;
    if (!is_slanted_) return;
    // Of the first name, which has least room.
    const double room = std::min(text_width(categories_.front()), kLongestSlanted) * kSlantCosine;
    plot_.left = std::max(plot_.left, std::min(room - plot_.width_of_category() / 2, kWidth / 4));
  }

  void grid() {
    if (plot_.y_scale) {
      for (const Tick& tick : plot_.y_scale->ticks()) {
        const double y = plot_.up(tick.value);
        body_ += line_element(plot_.left, y, plot_.right, y, tick.value == 0 ? "class=\"axis\"" : "class=\"grid\"");
        body_ += text_element(plot_.left - 6, y + 4.5, "text-anchor=\"end\"", tick.label);
      }
    }
    body_ += line_element(plot_.left, plot_.top, plot_.left, plot_.bottom, "class=\"axis\"");
    body_ += line_element(plot_.left, plot_.bottom, plot_.right, plot_.bottom, "class=\"axis\"");
    if (!plot_.x_scale) return;
    for (const Tick& tick : plot_.x_scale->ticks()) {
      const double x = plot_.across(tick.value);
      body_ += line_element(x, plot_.bottom, x, plot_.bottom + 4, "class=\"axis\"");
    }
  }

  void x_labels() {
    if (plot_.x_scale) {
      for (const Tick& tick : plot_.x_scale->ticks())
        body_ += text_element(plot_.across(tick.value), height_ + 17, kCentred, tick.label);
      height_ += kLine + 3;
    } else if (plot_.y_scale) {
      names();
    }
    for (const std::string& each : wrapped(full_label(chart_.x), kWidth - 2 * kEdge)) line(middle(), kCentred, each);
  }

  void names() {
    double deepest = 0;
    for (size_t index = 0; index < categories_.size(); ++index) {
      const double x = plot_.across(static_cast<double>(index));
      if (!is_slanted_) {
        body_ += text_element(x, height_ + 17, kCentred, categories_[index]);
        continue;
      }
      const std::string name = fitted(categories_[index], std::min(kLongestSlanted, (x - 2) / kSlantCosine));
      const std::string at = coordinate(x + 4) + "," + coordinate(height_ + 14);
      body_ += text_element(x + 4, height_ + 14, "text-anchor=\"end\" transform=\"rotate(-35," + at + ")\"", name);
      deepest = std::max(deepest, text_width(name) * kSlantSine);
    }
    height_ += kLine + 3 + deepest;
  }

  // Below the axis, where it covers nothing.
  void legend() {
    double x = kEdge;
    height_ += 4;
    bool has_entries = false;
    for (size_t index = 0; index < chart_.series.size(); ++index) {
      std::string name = printable(chart_.series[index].name);
      if (chart_.series[index].points.empty()) name += " (no points)";
      if (name.empty()) continue;
      name = fitted(name, kWidth - 2 * kEdge - kSampleRoom);
      const double width = kSampleRoom + text_width(name);
      if (!has_entries || x + width > kWidth - kEdge) {
        x = kEdge;
        height_ += kLegendLine;
        has_entries = true;
      }
      body_ += draw_sample(chart_, index, x, height_ - 9);
      body_ += text_element(x + kSampleRoom, height_ - 4.5, "", name);
      x += width + kBetweenEntries;
    }
  }

  void notes() {
    const bool is_logarithmic = chart_.y.scale != ScaleKind::kLinear || chart_.x.scale != ScaleKind::kLinear;
    for (const Series& series : chart_.series) {
      const auto shown = std::count_if(series.points.begin(), series.points.end(),
                                       [this](const Point& point) { return can_show(chart_, point); });
      const size_t left_out = series.points.size() - static_cast<size_t>(shown);
      if (left_out == 0) continue;
      const std::string text = "Not shown" + (series.name.empty() ? "" : " of " + fitted(series.name, kWidth / 2)) +
                               ": " + std::to_string(left_out) + " of " + std::to_string(series.points.size()) +
                               (series.points.size() == 1 ? " point, " : " points, ") +
                               (is_logarithmic ? "for which the axes have no place (zero, negative or no number)"
                                               : "for which the axes have no place (no number)");
      for (const std::string& each : wrapped(text, kWidth - 2 * kEdge, kSmallSize))
        line(kEdge, "class=\"small\"", each);
    }
  }

  const Chart chart_;
  std::vector<std::string> categories_;
  Plot plot_;
  bool is_slanted_ = false;
  double height_ = 0;
  std::string body_;
};

}  // namespace

std::string chart_svg(const Chart& chart) { return ChartWriter(chart).write(); }

}  // namespace hocket::pages
