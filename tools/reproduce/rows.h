// SPDX-License-Identifier: BSD-3-Clause
// Rows of a result file in JSON: a list of objects. Whatever such a file holds, nothing is thrown.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/papers.h"

namespace hocket::reproduce {

// Whether the row has these fields with these values.
bool fits(const Json& row, const Json& where);
// A number of the row: a field, an element of a list ("rank_us[1]", "rank_us[-1]" the last), or a field of `x_from`
// ({"depth": "nodes - 1"}).
std::optional<double> number_of(const Json& row, const std::string& field, const Json& x_from = {});
// x and y of the rows that fit, in the order of x. With "rank_us[]" as y: the list of the first row, by index.
std::vector<std::pair<double, double>> points_of(const Json& rows, const Json& series, const Json& x_from);

// Of a measured item's `ratios`, `slopes` and `spread`: the claim's number.
std::optional<double> ratio_of(const Json& rows, const Json& ratio);
std::optional<double> slope_of(const Json& rows, const Json& slope, const Json& x_from);
std::optional<double> spread_of(const Json& rows, const Json& spread);

// By least squares, of y over x.
std::optional<double> slope_of(const std::vector<std::pair<double, double>>& points);

}  // namespace hocket::reproduce
