// SPDX-License-Identifier: BSD-3-Clause
// The rectangle of a chart in which its series lie.
//
// Thread safety: a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pages/chart.h"
#include "pages/scale.h"

namespace hocket::pages {

struct Plot {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  // None where nothing can be shown; of x none where there are categories, either.
  std::optional<Scale> x_scale;
  std::optional<Scale> y_scale;
  size_t categories = 0;

  double across(double x) const;
  double up(double y) const;
  double width_of_category() const { return (right - left) / static_cast<double>(categories); }
};

// Whether the chart's axes have a place for the point. Of a chart with bars, the categories have been made.
bool can_show(const Chart& chart, const Point& point);

// Spreads, lines, bars and markers of all series.
std::string draw_series(const Chart& chart, const Plot& plot);

// A line or a bar and a marker, as the series at this place is drawn, in a box 28 wide whose left edge and middle these
// are.
std::string draw_sample(const Chart& chart, size_t series, double left, double middle);

}  // namespace hocket::pages
