// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/finding.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "pages/text.h"
#include "reproduce/selected.h"

namespace hocket::reproduce {
namespace {

constexpr double kTolerance = 0.10;
constexpr double kWiderTolerance = 0.25;
constexpr double kGrowth = 0.05;
constexpr double kFactor = 2;

std::string percent_text(double part) {
  const std::string text = pages::fixed_text(100 * part, 0);
  return (part > 0 && text != "0" ? "+" : "") + text + " %";
}

Outcome outcome_of_share(size_t holding, size_t all) {
  if (holding == all) return Outcome::kReproduced;
  return 2 * holding > all ? Outcome::kInPart : Outcome::kNot;
}

Finding find_order(const Claim& claim, const Json& recipe, const std::vector<Line>& lines) {
  Json wanted = recipe;
  wanted["of"] = recipe.value("more", claim.more);
  wanted["over"] = recipe.value("less", claim.less);
  if (!claim.places.empty() && !wanted.contains("places")) wanted["places"] = claim.places;
  const Points ratios = selected(wanted, lines);
  Finding finding;
  if (ratios.empty()) return finding;
  size_t holding = 0;
  double least = ratios.front().second, most = least;
  for (const auto& [x, ratio] : ratios) {
    holding += ratio > 1 ? 1 : 0;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  finding.outcome = outcome_of_share(holding, ratios.size());
  const std::string low = pages::number_text(least), high = pages::number_text(most);
  finding.text = std::to_string(holding) + " of " + std::to_string(ratios.size()) + " (" + low +
                 (low == high ? "" : " to " + high) + " times)";
  return finding;
}

// What is called the same may grow beside another line, `against`, that grows far more.
double scale_of(const Json& recipe, const std::vector<Line>& lines, double most) {
  double scale = std::abs(most);
  const Line* other = line_called(lines, recipe.value("against", std::string()));
  if (other != nullptr)
    for (const auto& [x, y] : other->points) scale = std::max(scale, std::abs(y));
  return std::max(scale, 1e-12);
}

Finding find_relation(const Claim& claim, const Json& recipe, const std::vector<Line>& lines, const Points& points) {
  Finding finding;
  const bool is_relation = claim.relation == "about" || claim.relation == "grows" || claim.relation == "falls";
  if (!is_relation || points.size() < (claim.relation == "about" ? 1u : 2u)) return finding;
  double least = points.front().second, most = least;
  for (const auto& [x, y] : points) {
    least = std::min(least, y);
    most = std::max(most, y);
  }
  const double first = points.front().second, last = points.back().second;
  const double scale = std::max(std::abs(first), std::abs(last));
  if (claim.relation == "about") {
    const bool is_ratio = recipe.contains("over");
    const double off = is_ratio ? std::max(most - 1, 1 - least) : (most - least) / scale_of(recipe, lines, most);
    finding.outcome = off <= kTolerance        ? Outcome::kReproduced
                      : off <= kWiderTolerance ? Outcome::kInPart
                                               : Outcome::kNot;
    const std::string low = pages::number_text(least), high = pages::number_text(most);
    finding.text = low + (low == high ? "" : " to " + high) + (is_ratio ? " times" : "");
    return finding;
  }
  const double growth = (claim.relation == "falls" ? first - last : last - first) / std::max(scale, 1e-12);
  finding.outcome = growth > kGrowth ? Outcome::kReproduced : growth > 0 ? Outcome::kInPart : Outcome::kNot;
  finding.text = "from " + pages::number_text(first) + " to " + pages::number_text(last);
  return finding;
}

// A list of what each point must be.
Finding find_counts(const Json& recipe, const Points& points) {
  Finding finding;
  const Json& wanted = recipe["equals"];
  if (points.empty()) return finding;
  size_t right = 0;
  std::string list;
  for (size_t at = 0; at < points.size() && at < wanted.size(); ++at) {
    const double exact = wanted[at].get<double>();
    right += std::abs(points[at].second - exact) <= 1e-3 * std::abs(exact) ? 1 : 0;
    list += (at == 0 ? "" : ", ") + pages::number_text(points[at].second);
  }
  finding.outcome = outcome_of_share(right, wanted.size());
  finding.text = list;
  return finding;
}

// Whether of some lines those expected are the best, or the worst, or within 5 % of that, at each place.
Finding find_extreme(const Json& recipe, const std::vector<Line>& lines, bool is_best) {
  Finding finding;
  const auto names = recipe[is_best ? "best_of" : "worst_of"].get<std::vector<std::string>>();
  const Json expected = recipe.value("expected", Json::array());
  std::map<double, std::pair<double, double>> extremes;  // of all, and of those expected
  for (const std::string& name : names) {
    const bool is_expected = std::find(expected.begin(), expected.end(), name) != expected.end();
    Json wanted = recipe;
    wanted["of"] = name;
    for (const auto& [x, y] : selected(wanted, lines)) {
      const double value = is_best ? y : -y;
      auto& [of_all, of_expected] = extremes.try_emplace(x, INFINITY, INFINITY).first->second;
      of_all = std::min(of_all, value);
      if (is_expected) of_expected = std::min(of_expected, value);
    }
  }
  if (extremes.empty()) return finding;
  size_t right = 0;
  for (const auto& [x, both] : extremes) right += both.second - both.first <= kGrowth * std::abs(both.first) ? 1 : 0;
  finding.outcome = outcome_of_share(right, extremes.size());
  finding.text = std::to_string(right) + " of " + std::to_string(extremes.size());
  return finding;
}

bool is_within_factor(double value, double paper, double factor) {
  if (value == 0 || paper == 0 || (value > 0) != (paper > 0)) return false;
  return std::max(value / paper, paper / value) <= factor + 1e-9;
}

Outcome outcome_of(const Claim& claim, const Json& recipe, double value) {
  const double paper = *claim.value;
  const bool is_bound = (claim.relation == ">=" || claim.relation == "<=") && !recipe.contains("factor");
  if (is_bound) {
    if (claim.relation == ">=" ? value >= paper : value <= paper) return Outcome::kReproduced;
    return is_within_factor(value, paper, kFactor) ? Outcome::kInPart : Outcome::kNot;
  }
  if (std::abs(value - paper) <= recipe.value("tolerance", kTolerance) * std::abs(paper) + 1e-9)
    return Outcome::kReproduced;
  if (recipe.contains("factor") && is_within_factor(value, paper, recipe["factor"].get<double>()))
    return Outcome::kReproduced;
  const bool is_near = is_within_factor(value, paper, kFactor);
  if (claim.unit != "times") return is_near ? Outcome::kInPart : Outcome::kNot;
  return value > 0 && (value > 1) == (paper > 1) ? Outcome::kInPart : Outcome::kNot;
}

}  // namespace

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kReproduced:
      return "yes";
    case Outcome::kInPart:
      return "in part";
    case Outcome::kNot:
      return "no";
    default:
      return "";
  }
}

Finding judge(const Claim& claim, const Json& recipe, double value) {
  Finding finding;
  if (!claim.value || !std::isfinite(value)) return finding;
  finding.value = value;
  finding.text = pages::number_text(value) + (claim.unit.empty() ? "" : " " + claim.unit);
  if (*claim.value != 0) finding.difference = percent_text(value / *claim.value - 1);
  finding.outcome = outcome_of(claim, recipe, value);
  return finding;
}

Finding find(const Claim& claim, const Json& recipe, const std::vector<Line>& lines) {
  for (const bool is_best : {true, false})
    if (recipe.contains(is_best ? "best_of" : "worst_of")) return find_extreme(recipe, lines, is_best);
  if (claim.is_order()) return find_order(claim, recipe, lines);
  const Points points = selected(recipe, lines);
  if (recipe.contains("equals")) return find_counts(recipe, points);
  if (!claim.value || (!recipe.contains("at") && !recipe.contains("take")))
    return find_relation(claim, recipe, lines, points);
  const std::optional<double> value = number_of(recipe, points);
  return value ? judge(claim, recipe, *value) : Finding();
}

}  // namespace hocket::reproduce
