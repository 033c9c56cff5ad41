// SPDX-License-Identifier: BSD-3-Clause
// Options that take numbers: their limits as people write them.
//
// Thread safety: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace hocket::command {

// Of how long anything may take: 30 years, where nobody wants a limit.
inline constexpr double kLongestSeconds = 1e9;

// Both ends included. "-1 is not a number from 0 to 3600".
inline CLI::Validator number_between(double least, double most) {
  const auto text_of = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", value);
    return std::string(text);
  };
  const std::string limits = "from " + text_of(least) + " to " + text_of(most);
  const auto check = [=](const std::string& word) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(word, value);
    return is_number && value >= least && value <= most ? "" : word + " is not a number " + limits;
  };
  return {check, limits, ""};
}

// Likewise, of numbers without a fraction. "x is not a whole number of 1 or more".
inline CLI::Validator whole_number_from(int least) {
  const std::string limit = "of " + std::to_string(least) + " or more";
  const auto check = [=](const std::string& word) {
    int value = 0;
    const bool is_number = CLI::detail::lexical_cast(word, value);
    return is_number && value >= least ? "" : word + " is not a whole number " + limit;
  };
  return {check, limit, ""};
}

}  // namespace hocket::command
