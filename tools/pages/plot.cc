// SPDX-License-Identifier: BSD-3-Clause
#include "pages/plot.h"

#include <algorithm>
#include <cmath>

#include "pages/drawing.h"
#include "pages/text.h"

namespace hocket::pages {
namespace {

// Of lines with more points, single ones can't be told apart.
constexpr size_t kMostMarkedPoints = 40;
// Of charts with more, a page would consist of descriptions.
constexpr size_t kMostDescribedPoints = 1000;
constexpr size_t kMostLabelledBars = 16;
constexpr double kGroupPart = 0.8;  // of a category's width
constexpr double kCap = 3;          // half the width of what ends a spread
constexpr double kSample = 28;
constexpr double kInset = 8;

std::string classes(const char* what, size_t series) {
  return "class=\"" + std::string(what) + " " + colour_class(series) + "\"";
}

class SeriesPainter {
 public:
  SeriesPainter(const Chart& chart, const Plot& plot) : chart_(chart), plot_(plot) {
    size_t points = 0;
    for (const Series& each : chart.series) {
      points += each.points.size();
      if (each.style == Style::kBars) bar_points_ += each.points.size(), ++bar_series_;
    }
    is_described_ = points <= kMostDescribedPoints;
  }

  std::string paint() {
    size_t bars_before = 0;
    // Bars behind everything else.
    for (size_t index = 0; index < chart_.series.size(); ++index) {
      if (chart_.series[index].style == Style::kBars) bars(index, bars_before++);
    }
    for (size_t index = 0; index < chart_.series.size(); ++index) {
      const Series& series = chart_.series[index];
      if (series.style == Style::kBars) continue;
      for (const Point& point : series.points) {
        if (can_show(chart_, point)) spread(index, point, plot_.across(point.x));
      }
      if (series.style != Style::kMarkers) line(index);
      if (series.style == Style::kMarkers || series.points.size() <= kMostMarkedPoints) markers(index);
    }
    return svg_;
  }

 private:
  std::string description(const Series& series, const Point& point) const {
    if (!is_described_) return "";
    const auto category = static_cast<size_t>(point.x);
    std::string text = series.name + (series.name.empty() ? "" : ": ") +
                       (plot_.categories > 0 ? chart_.categories[category] : number_text(point.x)) + ", " +
                       number_text(point.y);
    if (!std::isnan(point.low) && !std::isnan(point.high))
      text += " (" + number_text(point.low) + " to " + number_text(point.high) + ")";
    return "<title>" + escaped(text) + "</title>";
  }

  // What has no place ends at the edge, without a cap.
  void spread(size_t index, const Point& point, double x) {
    if (std::isnan(point.low) || std::isnan(point.high)) return;
    const bool has_low = Scale::can_show(chart_.y.scale, point.low);
    const bool has_high = Scale::can_show(chart_.y.scale, point.high);
    const double low = has_low ? plot_.up(point.low) : plot_.bottom;
    const double high = has_high ? plot_.up(point.high) : plot_.top;
    std::string path = "M" + coordinate(x) + "," + coordinate(low) + "V" + coordinate(high);
    const std::string cap = "h" + coordinate(2 * kCap);
    if (has_low) path += "M" + coordinate(x - kCap) + "," + coordinate(low) + cap;
    if (has_high) path += "M" + coordinate(x - kCap) + "," + coordinate(high) + cap;
    svg_ += "<path " + classes(chart_.series[index].style == Style::kBars ? "spread over" : "spread", index) + " d=\"" +
            path + "\"/>\n";
  }

  void line(size_t index) {
    const Series& series = chart_.series[index];
    std::string path;
    bool is_interrupted = true;
    for (const Point& point : series.points) {
      const bool is_shown = can_show(chart_, point);
      if (is_shown) {
        path += is_interrupted ? 'M' : 'L';
        path += coordinate(plot_.across(point.x)) + "," + coordinate(plot_.up(point.y));
      }
      is_interrupted = !is_shown;
    }
    if (!path.empty())
      svg_ += "<path " + classes(series.style == Style::kDashed ? "line dashed" : "line", index) + " d=\"" + path +
              "\"/>\n";
  }

  void markers(size_t index) {
    const Series& series = chart_.series[index];
    for (const Point& point : series.points) {
      if (!can_show(chart_, point)) continue;
      svg_ += "<path " + classes("mark", index) + " d=\"" +
              marker_path(index, plot_.across(point.x), plot_.up(point.y)) + "\">" + description(series, point) +
              "</path>\n";
    }
  }

  void bars(size_t index, size_t bars_before) {
    const Series& series = chart_.series[index];
    const double group = plot_.width_of_category() * kGroupPart;
    const double width = group / static_cast<double>(bar_series_);
    const double base = chart_.y.scale == ScaleKind::kLinear ? plot_.up(0) : plot_.bottom;
    for (const Point& point : series.points) {
      if (!can_show(chart_, point)) continue;
      const double left = plot_.across(point.x) - group / 2 + width * static_cast<double>(bars_before);
      const double end = plot_.up(point.y);
      svg_ += "<rect " + classes("bar", index) + " x=\"" + coordinate(left) + "\" y=\"" +
              coordinate(std::min(base, end)) + "\" width=\"" + coordinate(width) + "\" height=\"" +
              coordinate(std::abs(base - end)) + "\">" + description(series, point) + "</rect>\n";
      spread(index, point, left + width / 2);
      const std::string label = number_text(point.y);
      const bool has_spread = !std::isnan(point.low) && !std::isnan(point.high);
      if (bar_points_ <= kMostLabelledBars && !has_spread && text_width(label, kSmallSize) <= width + 4)
        svg_ += text_element(left + width / 2, end + (point.y < 0 ? 12 : -4), "class=\"small\" text-anchor=\"middle\"",
                             label);
    }
  }

  const Chart& chart_;
  const Plot& plot_;
  size_t bar_series_ = 0;
  size_t bar_points_ = 0;
  bool is_described_ = false;
  std::string svg_;
};

}  // namespace

double Plot::across(double x) const {
  if (categories > 0) return left + width_of_category() * (x + 0.5);
  // Markers of the first and the last point stay within.
  return left + kInset + (right - left - 2 * kInset) * x_scale->place_of(x);
}

double Plot::up(double y) const { return bottom - (bottom - top) * y_scale->place_of(y); }

bool can_show(const Chart& chart, const Point& point) {
  if (!Scale::can_show(chart.y.scale, point.y)) return false;
  if (chart.categories.empty()) return Scale::can_show(chart.x.scale, point.x);
  return point.x >= 0 && point.x < static_cast<double>(chart.categories.size()) && point.x == std::floor(point.x);
}

std::string draw_series(const Chart& chart, const Plot& plot) { return SeriesPainter(chart, plot).paint(); }

std::string draw_sample(const Chart& chart, size_t series, double left, double middle) {
  const Style style = chart.series[series].style;
  if (style == Style::kBars)
    return "<rect " + classes("bar", series) + " x=\"" + coordinate(left + 6) + "\" y=\"" + coordinate(middle - 6) +
           "\" width=\"16\" height=\"12\"/>\n";
  std::string svg;
  if (style != Style::kMarkers)
    svg += line_element(left, middle, left + kSample, middle,
                        classes(style == Style::kDashed ? "line dashed" : "line", series));
  return svg + "<path " + classes("mark", series) + " d=\"" + marker_path(series, left + kSample / 2, middle) +
         "\"/>\n";
}

}  // namespace hocket::pages
