// SPDX-License-Identifier: BSD-3-Clause
// Charts of lines, points and bars, as SVG inside a page of HTML. The same chart gives the same bytes.
//
// What a chart can't show it says: points without a place on its axes (zero on a logarithmic one, what is not finite)
// are left out, interrupt their line, and are counted below it. Linear axes of y begin at zero. Nothing is thinned out:
// who has a million points chooses which to show.
//
// Series differ in colours that people without one kind of cone tell apart, and in the forms of their markers. Colours
// are those of chart_style(), which follows the reader's choice of light or dark.
//
// Thread safety: pure functions.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "pages/scale.h"

namespace hocket::pages {

struct Axis {
  std::string label;
  std::string unit;  // behind the label, in brackets
  ScaleKind scale = ScaleKind::kLinear;
};

struct Point {
  double x = 0;
  double y = 0;
  // The spread of y, where it has one.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

enum class Style { kLine, kDashed, kMarkers, kBars };

struct Series {
  std::string name;
  std::vector<Point> points;  // of a line in its order
  Style style = Style::kLine;
};

struct Chart {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  // Where there are any, the axis of x has these names instead of numbers, and a point's x is the index of one. With
  // bars and without categories, each x is one.
  std::vector<std::string> categories;
};

// An element <svg>, as wide as what it stands in. Its text can be read down to a width of 330 pixels.
std::string chart_svg(const Chart& chart);

// The rules of CSS that a page with charts needs once.
std::string chart_style();

}  // namespace hocket::pages
