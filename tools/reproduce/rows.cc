// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hocket::reproduce {
namespace {

std::string text_in(const Json& json, const char* field) {
  return json.is_object() && json.contains(field) && json[field].is_string() ? json[field].get<std::string>() : "";
}

const Json& field_in(const Json& json, const char* field) {
  static const Json kNone;
  return json.is_object() && json.contains(field) ? json[field] : kNone;
}

std::optional<double> element_of(const Json& list, const std::string& index) {
  if (!list.is_array() || list.empty()) return std::nullopt;
  const long number = std::strtol(index.c_str(), nullptr, 10);
  const long at = number < 0 ? static_cast<long>(list.size()) + number : number;
  if (at < 0 || at >= static_cast<long>(list.size()) || !list[static_cast<size_t>(at)].is_number()) return std::nullopt;
  return list[static_cast<size_t>(at)].get<double>();
}

const Json* first_row(const Json& rows, const Json& where) {
  for (const Json& row : rows)
    if (fits(row, where)) return &row;
  return nullptr;
}

std::vector<double> ranks_but_root(const Json& row) {
  std::vector<double> times;
  const Json& list = field_in(row, "rank_us");
  for (size_t rank = 1; list.is_array() && rank < list.size(); ++rank)
    if (list[rank].is_number()) times.push_back(list[rank].get<double>());
  return times;
}

}  // namespace

bool fits(const Json& row, const Json& where) {
  if (!row.is_object()) return false;
  for (const auto& [field, value] : where.items())
    if (!row.contains(field) || row[field] != value) return false;
  return true;
}

std::optional<double> number_of(const Json& row, const std::string& field, const Json& x_from) {
  if (const std::string from = text_in(x_from, field.c_str()); !from.empty()) {
    const size_t minus = from.find(" - ");
    const std::optional<double> whole = number_of(row, from.substr(0, minus));
    if (!whole || minus == std::string::npos) return whole;
    return *whole - std::strtod(from.c_str() + minus + 3, nullptr);
  }
  const size_t bracket = field.find('[');
  const Json& value = field_in(row, field.substr(0, bracket).c_str());
  if (bracket != std::string::npos) return element_of(value, field.substr(bracket + 1));
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

std::vector<std::pair<double, double>> points_of(const Json& rows, const Json& series, const Json& x_from) {
  std::vector<std::pair<double, double>> points;
  const std::string x = text_in(series, "x"), y = text_in(series, "y");
  const Json where = series.value("where", Json::object());
  if (y.ends_with("[]")) {
    const Json* row = first_row(rows, where);
    if (row == nullptr) return points;
    const Json& list = field_in(*row, y.substr(0, y.size() - 2).c_str());
    for (size_t index = 1; list.is_array() && index < list.size(); ++index)
      if (list[index].is_number()) points.emplace_back(static_cast<double>(index), list[index].get<double>());
    return points;
  }
  for (const Json& row : rows) {
    if (!fits(row, where)) continue;
    const std::optional<double> at = number_of(row, x, x_from), value = number_of(row, y);
    if (at && value) points.emplace_back(*at, *value);
  }
  std::sort(points.begin(), points.end());
  return points;
}

std::optional<double> ratio_of(const Json& rows, const Json& ratio) {
  const Json* over = first_row(rows, ratio.value("over", Json::object()));
  const Json* under = first_row(rows, ratio.value("under", Json::object()));
  if (over == nullptr || under == nullptr) return std::nullopt;
  const std::string y = text_in(ratio, "y");
  const std::optional<double> above = number_of(*over, y), below = number_of(*under, y);
  if (!above || !below || *below == 0) return std::nullopt;
  const double value = *above / *below;
  return text_in(ratio, "as").starts_with("100 (1 -") ? 100 * (1 - value) : value;
}

std::optional<double> slope_of(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 2) return std::nullopt;
  double mean_x = 0, mean_y = 0, products = 0, squares = 0;
  for (const auto& [x, y] : points) mean_x += x / static_cast<double>(points.size());
  for (const auto& [x, y] : points) mean_y += y / static_cast<double>(points.size());
  for (const auto& [x, y] : points) {
    products += (x - mean_x) * (y - mean_y);
    squares += (x - mean_x) * (x - mean_x);
  }
  if (squares == 0) return std::nullopt;
  return products / squares;
}

std::optional<double> slope_of(const Json& rows, const Json& slope, const Json& x_from) {
  const auto line = [&](const char* which) {
    return points_of(rows, {{"where", slope.value(which, Json::object())}, {"x", slope["x"]}, {"y", slope["y"]}},
                     x_from);
  };
  const std::optional<double> of = slope_of(line("of")), minus = slope_of(line("minus"));
  if (!of || !minus) return std::nullopt;
  return *of - *minus;
}

std::optional<double> spread_of(const Json& rows, const Json& spread) {
  const Json* row = first_row(rows, spread.value("where", Json::object()));
  if (row == nullptr) return std::nullopt;
  std::vector<double> times = ranks_but_root(*row);
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  if (text_in(spread, "of").starts_with("1 - least")) return 100 * (1 - times.front() / times.back());
  const double median = times[times.size() / 2];
  return 100 * std::max(times.back() / median - 1, 1 - times.front() / median);
}

}  // namespace hocket::reproduce
