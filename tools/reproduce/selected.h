// SPDX-License-Identifier: BSD-3-Clause
// The points that a recipe chooses of lines: one line's, or two lines' put together point by point.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reproduce/papers.h"

namespace hocket::reproduce {

using Points = std::vector<std::pair<double, double>>;

// The line that goes with the paper's line, or is called so; nullptr if none has points.
const Line* line_called(const std::vector<Line>& lines, const std::string& name);

// `of`, divided by `over`, less `minus`, or by how many percent it is below `below`; where the recipe's `places` are,
// if it has some, and between `from` and `to`.
Points selected(const Json& recipe, const std::vector<Line>& lines);

// One number of the points: that `at` an x (less that at `minus_at`), or what `take` says: slope, most, least,
// nearly_most (from which x on all have four fifths of the most), until and from (to which x, or from which x on, `of`
// is the lesser line), off_median and first_before_last (in percent). Divided by `divide`.
std::optional<double> number_of(const Json& recipe, const Points& points);

}  // namespace hocket::reproduce
