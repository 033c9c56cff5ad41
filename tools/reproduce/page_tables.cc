// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/page_tables.h"

#include <charconv>
#include <cstring>

namespace hocket::reproduce {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// A star alone says which a table chooses, so it stays: in front.
std::string cell_of(std::string_view text) {
  std::string plain;
  bool has_star = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_bold = text.substr(at, 2) == "**";
    if (is_bold) ++at;
    if (is_bold || text[at] == '\\') continue;
    if (text[at] == '*')
      has_star = true;
    else
      plain += text[at];
  }
  return (has_star ? "*" : "") + std::string(trimmed(plain));
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line = trimmed(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  while (true) {
    const size_t bar = line.find('|');
    cells.push_back(cell_of(line.substr(0, bar)));
    if (bar == std::string_view::npos) return cells;
    line.remove_prefix(bar + 1);
  }
}

std::string_view next_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// Behind the number at the beginning of `text`, which it takes away.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

double unit_at(std::string_view rest) {
  const std::string_view unit = trimmed(rest);
  constexpr std::string_view kUnits = "KMG";
  double factor = 1;
  for (const char c : kUnits) {
    factor *= 1024;
    if (!unit.starts_with(c)) continue;
    const std::string_view behind = unit.substr(1);
    if (behind.empty() || behind.starts_with("iB") || behind.starts_with("B") || behind.starts_with(" ")) return factor;
  }
  return 1;
}

}  // namespace

std::optional<size_t> PageTable::column(std::string_view name) const {
  for (size_t at = 0; at < head.size(); ++at)
    if (head[at] == name) return at;
  return std::nullopt;
}

PageTable find_table(std::string_view page, std::string_view beginning) {
  PageTable table;
  bool is_found = false;
  for (std::string_view rest = page; !rest.empty();) {
    const std::string_view line = next_line(rest);
    is_found = is_found || line.starts_with(beginning);
    if (!is_found) continue;
    if (!line.starts_with('|')) {
      if (!table.head.empty()) return table;
      continue;
    }
    if (table.head.empty())
      table.head = cells_of(line);
    else if (!line.starts_with("|-"))
      table.rows.push_back(cells_of(line));
  }
  return table;
}

std::optional<double> number_in(std::string_view cell, int part) {
  int seen = 0;
  while (!cell.empty()) {
    const bool begins = std::strchr("0123456789", cell.front()) != nullptr;
    if (!begins) {
      cell.remove_prefix(1);
      continue;
    }
    const std::optional<double> number = take_number(cell);
    if (!number) return std::nullopt;
    if (++seen < part) continue;
    if (cell.starts_with('x') && cell.size() > 1) {
      std::string_view behind = cell.substr(1);
      if (const std::optional<double> other = take_number(behind)) return *number * *other;
    }
    return *number * unit_at(cell);
  }
  return std::nullopt;
}

}  // namespace hocket::reproduce
