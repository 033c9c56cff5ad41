// SPDX-License-Identifier: BSD-3-Clause
#include "pages/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pages/text.h"

namespace hocket::pages {
namespace {

constexpr size_t kColours = 8;

// Parts of the font's size, of a wide sans serif font.
double width_of(char c) {
  constexpr std::string_view kNarrow = "ijl.,:;'|!I ";
  constexpr std::string_view kSlim = "ftr()[]-/\"{}";
  constexpr std::string_view kWide = "mwMW@%";
  if (static_cast<unsigned char>(c) >= 0xC0) return 0.8;  // the first byte of what isn't ASCII
  if (static_cast<unsigned char>(c) >= 0x80) return 0;
  if (kNarrow.find(c) != std::string_view::npos) return 0.33;
  if (kSlim.find(c) != std::string_view::npos) return 0.43;
  if (kWide.find(c) != std::string_view::npos) return 0.97;
  return c >= 'A' && c <= 'Z' ? 0.7 : 0.63;
}

}  // namespace

std::string coordinate(double value) {
  std::string text = fixed_text(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

double text_width(std::string_view text, double font_size) {
  double width = 0;
  for (const char c : text) width += width_of(c);
  return width * font_size;
}

std::string fitted(std::string_view text, double width) {
  std::string fit = printable(text);
  for (size_t kept = count_characters(fit); kept > 1 && text_width(fit) > width; --kept) fit = shortened(fit, kept - 1);
  return fit;
}

std::vector<std::string> wrapped(std::string_view text, double width, double font_size) {
  std::vector<std::string> lines;
  const std::string plain = printable(text);
  std::string_view rest = plain;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string word = fitted(rest.substr(0, end), width * kFontSize / font_size);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.empty()) continue;
    if (!lines.empty() && text_width(lines.back() + " " + word, font_size) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string text_element(double x, double y, std::string_view attributes, std::string_view text) {
  std::string element = "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\"";
  if (!attributes.empty()) element += " " + std::string(attributes);
  return element + ">" + escaped(text) + "</text>\n";
}

std::string line_element(double x1, double y1, double x2, double y2, std::string_view attributes) {
  return "<path " + std::string(attributes) + " d=\"M" + coordinate(x1) + "," + coordinate(y1) + "L" + coordinate(x2) +
         "," + coordinate(y2) + "\"/>\n";
}

std::string marker_path(size_t series, double x, double y) {
  // Corners of about equal areas; a circle first, and crosses last.
  constexpr std::array<std::string_view, 7> kForms = {
      "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
      "m-3.6,-3.6h7.2v7.2h-7.2z",
      "m0,-5l4.8,8.4h-9.6z",
      "m0,-5.2l5.2,5.2l-5.2,5.2l-5.2,-5.2z",
      "m0,5l4.8,-8.4h-9.6z",
      "m-1.4,-5h2.8v3.6h3.6v2.8h-3.6v3.6h-2.8v-3.6h-3.6v-2.8h3.6z",
      "m-5,-3.2l1.8,-1.8l3.2,3.2l3.2,-3.2l1.8,1.8l-3.2,3.2l3.2,3.2l-1.8,1.8l-3.2,-3.2l-3.2,3.2l-1.8,-1.8l3.2,-3.2z"};
  return "M" + coordinate(x) + "," + coordinate(y) + std::string(kForms[series % kForms.size()]);
}

std::string colour_class(size_t series) { return "c" + std::to_string(series % kColours); }

}  // namespace hocket::pages
