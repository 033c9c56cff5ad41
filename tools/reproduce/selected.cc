// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/selected.h"

#include <algorithm>
#include <cmath>

#include "reproduce/rows.h"

namespace hocket::reproduce {
namespace {

bool is_wanted(const Json& recipe, double x) {
  if (x < recipe.value("from", x) || x > recipe.value("to", x)) return false;
  if (!recipe.contains("places")) return true;
  for (const Json& place : recipe["places"])
    if (place.get<double>() == x) return true;
  return false;
}

std::optional<double> value_at(const Points& points, double x) {
  for (const auto& [own_x, y] : points)
    if (own_x == x) return y;
  return std::nullopt;
}

// Of points that are ratios of two lines.
std::optional<double> border(const Points& points, bool is_first) {
  std::optional<double> found;
  for (const auto& [x, ratio] : points) {
    if (is_first && !(ratio < 1)) return found ? found : std::optional<double>(0);
    if (ratio < 1 && (is_first || !found)) found = x;
    if (!is_first && !(ratio < 1)) found.reset();
  }
  return found;
}

std::optional<double> spread(Points points, bool is_off_median) {
  if (points.empty()) return std::nullopt;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double least = points.front().second, most = points.back().second;
  if (!is_off_median) return 100 * (1 - least / most);
  const double median = points[points.size() / 2].second;
  return 100 * std::max(most / median - 1, 1 - least / median);
}

// From which x on all reach four fifths of the most.
std::optional<double> nearly_most(const Points& points) {
  double most = 0;
  for (const auto& [x, y] : points) most = std::max(most, y);
  std::optional<double> found;
  for (const auto& [x, y] : points) {
    if (y < 0.8 * most) found.reset();
    if (y >= 0.8 * most && !found) found = x;
  }
  return found;
}

std::optional<double> taken(const std::string& what, const Points& points) {
  if (what == "slope") return slope_of(points);
  if (what == "nearly_most") return nearly_most(points);
  if (what == "until") return border(points, /*is_first=*/true);
  if (what == "from") return border(points, /*is_first=*/false);
  if (what == "off_median" || what == "first_before_last") return spread(points, what == "off_median");
  std::optional<double> found;
  for (const auto& [x, y] : points) {
    if (!found) found = y;
    found = what == "most" ? std::max(*found, y) : std::min(*found, y);
  }
  return found;
}

}  // namespace

const Line* line_called(const std::vector<Line>& lines, const std::string& name) {
  if (name.empty()) return nullptr;
  for (const Line& line : lines)
    if ((line.beside == name || line.name == name) && !line.points.empty()) return &line;
  return nullptr;
}

Points selected(const Json& recipe, const std::vector<Line>& lines) {
  Points points;
  const Line* of = line_called(lines, recipe.value("of", std::string()));
  if (of == nullptr) return points;
  const Line* other = nullptr;
  std::string how;
  for (const char* way : {"over", "minus", "below"}) {
    if (!recipe.contains(way)) continue;
    how = way;
    other = line_called(lines, recipe[way].get<std::string>());
    if (other == nullptr) return points;
  }
  for (const auto& [x, y] : of->points) {
    if (!is_wanted(recipe, x)) continue;
    if (other == nullptr) {
      points.emplace_back(x, y);
      continue;
    }
    const std::optional<double> beside = other->at(x);
    if (!beside || (how != "minus" && *beside == 0)) continue;
    points.emplace_back(x, how == "over" ? y / *beside : how == "minus" ? y - *beside : 100 * (1 - y / *beside));
  }
  return points;
}

std::optional<double> number_of(const Json& recipe, const Points& points) {
  std::optional<double> found;
  if (recipe.contains("at")) {
    found = value_at(points, recipe["at"].get<double>());
    if (found && recipe.contains("minus_at")) {
      const std::optional<double> less = value_at(points, recipe["minus_at"].get<double>());
      found = less ? std::optional<double>(*found - *less) : std::nullopt;
    }
  } else if (recipe.contains("take")) {
    found = taken(recipe["take"].get<std::string>(), points);
  }
  if (found) *found /= recipe.value("divide", 1.0);
  return found;
}

}  // namespace hocket::reproduce
