// SPDX-License-Identifier: BSD-3-Clause
#include "pages/scale.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/size_text.h"
#include "pages/text.h"

namespace hocket::pages {
namespace {

constexpr double kLargestShown = 1e30;
constexpr double kSmallestShown = 1e-30;
// Of numbers that differ by less than this part of them, labels would look alike.
constexpr double kLeastSpan = 1e-9;
// On logarithmic axes, powers up to this size are written with all their digits.
constexpr double kLongestDigits = 1e5;
constexpr double kLongestBinary = 1 << 20;

std::string raised(std::string_view base, int exponent) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text(base);
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : kDigits[c - '0'];
  return text;
}

double power_of(ScaleKind kind, int exponent) {
  return kind == ScaleKind::kLog10 ? std::pow(10.0, exponent) : std::ldexp(1, exponent);
}

double logarithm(ScaleKind kind, double value) {
  return kind == ScaleKind::kLog10 ? std::log10(value) : std::log2(value);
}

std::string power_label(ScaleKind kind, int exponent) {
  const double value = power_of(kind, exponent);
  if (kind == ScaleKind::kBytes && exponent >= 0 && exponent < 63) return size_to_text(uint64_t{1} << exponent);
  const double longest = kind == ScaleKind::kLog10 ? kLongestDigits : kLongestBinary;
  if (value > longest || value < 1e-3) return raised(kind == ScaleKind::kLog10 ? "10" : "2", exponent);
  return value < 1 ? number_text(value) : fixed_text(value, 0);
}

// The smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least this.
double nice_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - kLeastSpan)) return factor * power;
  }
  return 10 * power;
}

std::vector<Tick> linear_ticks(double lowest, double highest, int most) {
  const double size = std::max(std::abs(lowest), std::abs(highest));
  if (highest - lowest <= size * kLeastSpan) {
    // Of one number, as much on either side.
    const double margin = size > 0 ? size / 2 : 0.5;
    lowest -= margin;
    highest += margin;
  }
  const double step = nice_step((highest - lowest) / (most - 1));
  const double first = std::floor(lowest / step + kLeastSpan);
  const double last = std::ceil(highest / step - kLeastSpan);
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + kLeastSpan)));
  const bool is_long = size >= 1e7 || step < 1e-5;
  std::vector<Tick> ticks;
  for (int index = 0; index <= static_cast<int>(last - first); ++index) {
    const double value = (first + index) * step;
    ticks.push_back({value, is_long ? number_text(value) : fixed_text(value, decimals)});
  }
  return ticks;
}

// Over few decades 1, 2 and 5 times the powers of ten.
std::vector<Tick> fine_ticks(double lowest, double highest) {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(lowest)));
  for (int exponent = first; exponent <= first + 4; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, exponent);
      if (ticks.size() >= 2 && ticks.back().value >= highest * (1 - kLeastSpan)) return ticks;
      // Only the last of those that are too small is needed.
      if (value <= lowest * (1 + kLeastSpan)) ticks.clear();
      ticks.push_back({value, factor == 1 ? power_label(ScaleKind::kLog10, exponent) : number_text(value)});
    }
  }
  return ticks;
}

std::vector<Tick> power_ticks(ScaleKind kind, int first, int last, int most) {
  const int stride = (last - first + most - 2) / (most - 1);
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; exponent += stride)
    ticks.push_back({power_of(kind, exponent), power_label(kind, exponent)});
  return ticks;
}

}  // namespace

bool Scale::can_show(ScaleKind kind, double value) {
  if (!std::isfinite(value) || std::abs(value) > kLargestShown) return false;
  return kind == ScaleKind::kLinear || value >= kSmallestShown;
}

Scale Scale::make(ScaleKind kind, double lowest, double highest, int most_ticks) {
  if (kind == ScaleKind::kLinear) {
    std::vector<Tick> ticks = linear_ticks(lowest, highest, most_ticks);
    const double last = ticks.back().value;
    return {kind, last, std::move(ticks)};
  }
  if (highest <= lowest * (1 + kLeastSpan)) {
    lowest /= 2;
    highest *= 2;
  }
  if (kind == ScaleKind::kLog10 && highest / lowest < 100) {
    std::vector<Tick> fine = fine_ticks(lowest, highest);
    const double last = fine.back().value;
    if (static_cast<int>(fine.size()) <= most_ticks) return {kind, last, std::move(fine)};
  }
  const int first = static_cast<int>(std::floor(logarithm(kind, lowest) + kLeastSpan));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(logarithm(kind, highest) - kLeastSpan)));
  return {kind, power_of(kind, last), power_ticks(kind, first, last, most_ticks)};
}

double Scale::place_of(double value) const {
  const double first = ticks_.front().value;
  if (kind_ == ScaleKind::kLinear) return (value - first) / (last_ - first);
  return (logarithm(kind_, value) - logarithm(kind_, first)) / (logarithm(kind_, last_) - logarithm(kind_, first));
}

}  // namespace hocket::pages
