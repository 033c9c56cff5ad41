// SPDX-License-Identifier: BSD-3-Clause
// Comparisons as a page for people, and as JSON for programs. The same comparisons give the same bytes.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "pages/page.h"
#include "reproduce/comparison.h"

namespace hocket::reproduce {

// `measured_anew`: files that are not the kept ones.
pages::Page page_of(const std::vector<Comparison>& comparisons, const std::vector<std::string>& measured_anew);

// A list of items: id, title, verdict, why, claims (id, text, role, paper, value, unit, model, model_value, difference,
// agrees, why_no_model, measured, measured_value) and lines (of, name, points, problem).
nlohmann::ordered_json json_of(const std::vector<Comparison>& comparisons);

}  // namespace hocket::reproduce
