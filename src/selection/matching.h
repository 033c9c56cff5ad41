// SPDX-License-Identifier: BSD-3-Clause
// How a choice came about: shared by choosing and explaining, which must agree.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "selection/choice.h"

namespace hocket::selection {

enum class Ground { kForced, kRule, kModel, kRegistry };

struct Refusal {
  Spec spec;
  uint32_t line;  // of the table; 0: not from a line
  std::string why;
};

struct Match {
  Ground ground = Ground::kRule;
  Spec spec;  // without an algorithm: nothing can serve
  const Rule* rule = nullptr;
  double predicted_us = 0;       // kModel
  std::vector<Refusal> refused;  // in the order in which they were asked
};

bool matches(const Query& query, const Table& table, const Rule& rule);
Match find_match(const Query& query, const Table& table, const Spec* forced);
// "shipped table, line 12"
std::string reason_of(const Match& match, const Table& table);

// For Shape::degree.
uint32_t degree_of(const Query& query, const Spec& spec);
// The numbers of a call, without the parts of a composition; the spec can serve the query, or is asked whether.
Choice cut(const Query& query, const Spec& spec);

}  // namespace hocket::selection
