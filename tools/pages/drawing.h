// SPDX-License-Identifier: BSD-3-Clause
// Elements of SVG, and about how much room text takes, which only a browser knows for sure. Lengths are units of the
// drawing.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hocket::pages {

inline constexpr double kFontSize = 13;
inline constexpr double kTitleSize = 15;
inline constexpr double kSmallSize = 11.5;

// With one digit behind the point, if it isn't zero.
std::string coordinate(double value);

// Rather too much than too little.
double text_width(std::string_view text, double font_size = kFontSize);
// At blanks, into lines that are at most so wide; a word that is wider is shortened.
std::vector<std::string> wrapped(std::string_view text, double width, double font_size = kFontSize);
// To what is at most so wide.
std::string fitted(std::string_view text, double width);

// `attributes` are SVG already, as in `class="title" text-anchor="end"`; the text is escaped here.
std::string text_element(double x, double y, std::string_view attributes, std::string_view text);
std::string line_element(double x1, double y1, double x2, double y2, std::string_view attributes);

// The data of a path: the marker of a series, a form of its own for each of the first seven.
std::string marker_path(size_t series, double x, double y);
// The class that gives a series its colour.
std::string colour_class(size_t series);

}  // namespace hocket::pages
