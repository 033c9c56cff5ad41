// SPDX-License-Identifier: BSD-3-Clause
// A page in a terminal, and as data.
#include <algorithm>
#include <cmath>

#include "pages/page.h"
#include "pages/text.h"

namespace hocket::pages {
namespace {

using nlohmann::ordered_json;

constexpr size_t kColumns = 80;

std::string filled(std::string_view text) {
  const std::string plain = printable(text);
  std::string_view rest = plain;
  std::string lines;
  size_t used = 0;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word.empty()) continue;
    const size_t width = count_characters(word);
    if (used != 0) lines += used + 1 + width > kColumns ? '\n' : ' ';
    used = used != 0 && used + 1 + width <= kColumns ? used + 1 + width : width;
    lines += word;
  }
  return lines + "\n";
}

std::string underlined(std::string_view text, char mark) {
  const std::string plain = printable(text);
  return plain + "\n" + std::string(count_characters(plain), mark) + "\n";
}

std::string line_of(const std::vector<std::string>& row, const std::vector<size_t>& widths,
                    const std::vector<bool>& is_numeric) {
  std::string line;
  for (size_t column = 0; column < widths.size(); ++column) {
    const std::string cell = column < row.size() ? printable(row[column]) : "";
    const std::string padding(widths[column] - count_characters(cell), ' ');
    if (column != 0) line += "  ";
    line += is_numeric[column] ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_text(const Table& table) {
  const size_t columns = table.columns();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> is_numeric;
  const auto widen = [&widths](const std::vector<std::string>& row) {
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], count_characters(printable(row[column])));
  };
  widen(table.headers);
  for (const std::vector<std::string>& row : table.rows) widen(row);
  for (size_t column = 0; column < columns; ++column) is_numeric.push_back(table.is_numeric(column));
  std::string text = table.caption.empty() ? "" : filled(table.caption);
  if (!table.headers.empty()) {
    text += line_of(table.headers, widths, is_numeric);
    std::vector<std::string> rules;
    for (const size_t width : widths) rules.emplace_back(width, '-');
    text += line_of(rules, widths, is_numeric);
  }
  for (const std::vector<std::string>& row : table.rows) text += line_of(row, widths, is_numeric);
  return text;
}

std::vector<std::string> all_printable(const std::vector<std::string>& cells) {
  std::vector<std::string> made;
  for (const std::string& cell : cells) made.push_back(printable(cell));
  return made;
}

ordered_json json_of(const Axis& axis) {
  constexpr const char* kNames[] = {"linear", "log2", "log10", "bytes"};
  return {{"label", printable(axis.label)},
          {"unit", printable(axis.unit)},
          {"scale", kNames[static_cast<int>(axis.scale)]}};
}

// JSON has no numbers that are not finite.
ordered_json number_json(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }

ordered_json json_of(const Series& series) {
  ordered_json points = ordered_json::array();
  for (const Point& point : series.points) {
    points.push_back({{"x", number_json(point.x)}, {"y", number_json(point.y)}});
    if (std::isnan(point.low) && std::isnan(point.high)) continue;
    points.back()["low"] = number_json(point.low);
    points.back()["high"] = number_json(point.high);
  }
  return {{"name", printable(series.name)}, {"points", points}};
}

ordered_json json_of(const Block& block) {
  if (const auto* paragraph = std::get_if<Paragraph>(&block)) return {{"paragraph", printable(paragraph->text)}};
  if (const auto* table = std::get_if<Table>(&block)) {
    ordered_json rows = ordered_json::array();
    for (const std::vector<std::string>& row : table->rows) rows.push_back(all_printable(row));
    return {{"table", printable(table->caption)}, {"headers", all_printable(table->headers)}, {"rows", rows}};
  }
  const auto& chart = std::get<Chart>(block);
  ordered_json made = {{"chart", printable(chart.title)}, {"x", json_of(chart.x)}, {"y", json_of(chart.y)}};
  if (!chart.categories.empty()) made["categories"] = all_printable(chart.categories);
  made["series"] = ordered_json::array();
  for (const Series& series : chart.series) made["series"].push_back(json_of(series));
  return made;
}

}  // namespace

std::string Page::text() const {
  std::string text = underlined(title_, '=');
  for (const std::string& paragraph : introduction_) text += "\n" + filled(paragraph);
  if (sections_.size() > 1) text += "\n" + table_text(summary());
  for (const Section& section : sections_) {
    text += "\n" + underlined(section.id() + (section.id().empty() ? "" : "  ") + section.heading(), '-');
    for (const Block& block : section.blocks()) {
      if (const auto* paragraph = std::get_if<Paragraph>(&block)) text += "\n" + filled(paragraph->text);
      if (const auto* table = std::get_if<Table>(&block)) text += "\n" + table_text(*table);
    }
    if (section.verdict() == Verdict::kNone) continue;
    text += "\n" + filled(name_of(section.verdict()) + std::string(section.why().empty() ? "" : ": ") + section.why());
  }
  return text;
}

ordered_json Page::json() const {
  ordered_json made = {{"title", printable(title_)}, {"paragraphs", all_printable(introduction_)}};
  made["sections"] = ordered_json::array();
  for (const Section& section : sections_) {
    ordered_json one = {{"id", printable(section.id())}, {"heading", printable(section.heading())}};
    one["content"] = ordered_json::array();
    for (const Block& block : section.blocks()) one["content"].push_back(json_of(block));
    one["verdict"] = name_of(section.verdict());
    one["why"] = printable(section.why());
    made["sections"].push_back(std::move(one));
  }
  return made;
}

}  // namespace hocket::pages
