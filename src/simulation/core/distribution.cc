// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/core/distribution.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace hocket::simulation {
namespace {

using Kind = Distribution::Kind;

Status not_a_distribution(std::string_view text) {
  return {Code::kInvalidArgument,
          "`" + std::string(text) +
              "` is no distribution of times; for instance: 50us, uniform:0..1ms, exponential:20us, normal:100us,20us"};
}

std::string us_text(double us) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10gus", us);
  return text;
}

// What comes before and behind the mark.
bool split(std::string_view text, std::string_view mark, std::string_view& before, std::string_view& behind) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return false;
  before = text.substr(0, at);
  behind = text.substr(at + mark.size());
  return true;
}

}  // namespace

Result<double> parse_us(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = error == std::errc() ? text.substr(static_cast<size_t>(end - text.data())) : "?";
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const double factor = unit.empty() || unit == "us" ? 1
                        : unit == "ns"               ? 1e-3
                        : unit == "ms"               ? 1e3
                        : unit == "s"                ? 1e6
                                                     : 0;
  constexpr double kMostUs = 1e12;
  if (factor == 0 || !(value >= 0) || value * factor > kMostUs)
    return Status(Code::kInvalidArgument,
                  "`" + std::string(text) + "` is no time; for instance: 12us, 0.5ms, 300ns, 2s (us without a unit)");
  return value * factor;
}

Result<Distribution> Distribution::parse(std::string_view text) {
  std::string_view name, rest;
  if (!split(text, ":", name, rest)) {
    const Result<double> constant = parse_us(text);
    return constant.is_ok() ? Result<Distribution>(Distribution(Kind::kConstant, constant.value()))
                            : Result<Distribution>(not_a_distribution(text));
  }
  std::string_view first = rest, second;
  const bool is_uniform = name == "uniform", is_normal = name == "normal";
  if ((is_uniform && !split(rest, "..", first, second)) || (is_normal && !split(rest, ",", first, second)) ||
      (!is_uniform && !is_normal && name != "exponential"))
    return not_a_distribution(text);
  const Result<double> one = parse_us(first);
  const Result<double> other = second.empty() ? Result<double>(0.0) : parse_us(second);
  if (!one.is_ok() || !other.is_ok() || (is_uniform && other.value() < one.value())) return not_a_distribution(text);
  if ((is_uniform || is_normal) && second.empty()) return not_a_distribution(text);
  return Distribution(is_uniform  ? Kind::kUniform
                      : is_normal ? Kind::kNormal
                                  : Kind::kExponential,
                      one.value(), other.value());
}

std::string Distribution::text() const {
  switch (kind_) {
    case Kind::kUniform:
      return "uniform:" + us_text(first_) + ".." + us_text(second_);
    case Kind::kExponential:
      return "exponential:" + us_text(first_);
    case Kind::kNormal:
      return "normal:" + us_text(first_) + "," + us_text(second_);
    default:
      return us_text(first_);
  }
}

Time Distribution::draw(uint64_t seed, Purpose purpose, uint64_t number, uint64_t further) const {
  if (kind_ == Kind::kConstant) return from_us(first_);
  const double one = random_fraction(seed, purpose, number, 2 * further);
  switch (kind_) {
    case Kind::kUniform:
      return from_us(first_ + one * (second_ - first_));
    case Kind::kExponential:
      return from_us(-first_ * std::log1p(-one));
    default: {
      // Box and Muller.
      const double other = random_fraction(seed, purpose, number, 2 * further + 1);
      const double deviates = std::sqrt(-2 * std::log1p(-one)) * std::cos(2 * std::numbers::pi * other);
      return from_us(first_ + second_ * deviates);
    }
  }
}

}  // namespace hocket::simulation
