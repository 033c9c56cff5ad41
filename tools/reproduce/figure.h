// SPDX-License-Identifier: BSD-3-Clause
// The lines of a comparison: as a chart of two panels, the paper's points with the model's lines, and what was
// measured, and as the table of what the chart shows.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "pages/page.h"
#include "reproduce/comparison.h"

namespace hocket::reproduce {

// Nothing if no line has a point.
std::vector<pages::Chart> charts_of(const Comparison& comparison);
std::optional<pages::Table> lines_table(const Comparison& comparison);

}  // namespace hocket::reproduce
