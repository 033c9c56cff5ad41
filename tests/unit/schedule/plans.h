// SPDX-License-Identifier: BSD-3-Clause
// Plans of all ranks from one function, as the tests of this module write them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "schedule/builder.h"
#include "schedule/verifier/verifier.h"

namespace hocket::schedule {

using Algorithm = std::function<void(Builder&)>;

inline std::vector<Plan> plans_of(Collective collective, Shape shape, const Algorithm& algorithm) {
  std::vector<Plan> plans;
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) {
    Builder builder(collective, shape);
    algorithm(builder);
    plans.push_back(builder.finish());
  }
  return plans;
}

inline std::vector<Plan> plans_of(Collective collective, uint32_t size, const Algorithm& algorithm) {
  Shape shape;
  shape.size = size;
  return plans_of(collective, shape, algorithm);
}

inline VerifyOptions with_count(uint64_t count) {
  VerifyOptions options;
  options.count = count;
  return options;
}

// The verifier finds a problem, and one of its sentences contains `words`.
inline void expect_problem(const Report& report, const std::string& words) {
  EXPECT_FALSE(report.is_correct()) << "expected: " << words;
  EXPECT_NE(report.text().find(words), std::string::npos) << "expected: " << words << "\nfound: " << report.text();
}

}  // namespace hocket::schedule
