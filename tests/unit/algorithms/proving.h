// SPDX-License-Identifier: BSD-3-Clause
// Plans of all ranks for one shape, and what the verifier says of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "schedule/verifier/verifier.h"

namespace hocket::algorithms {

// `make_plan` for every rank; `shape.rank` is ignored.
std::vector<schedule::Plan> plans_of(const Algorithm& algorithm, schedule::Shape shape);

// The shape of a call in place.
schedule::Shape placed(schedule::Shape shape);

// Has the collective a root; can a call be in place without the caller moving anything; does it combine.
bool has_root(const Algorithm& algorithm);
bool works_in_place(const Algorithm& algorithm);
bool combines(const Algorithm& algorithm);

// "broadcast_tree", with letters, digits and underscores only.
std::string test_name(const Algorithm& algorithm);
std::string text(const schedule::Shape& shape);

// Degrees worth proving: those of the algorithm, and the extremes. {0} where it has none.
std::vector<uint32_t> degrees_to_prove(const Algorithm& algorithm);
// Counts that make fractions come out whole, odd, and empty.
std::vector<uint64_t> counts_to_prove(const Algorithm& algorithm, const schedule::Shape& shape);

// Verifies the shape for these counts, in place too where that is possible. `calls` is raised by the verifications.
testing::AssertionResult is_proved(const Algorithm& algorithm, const schedule::Shape& shape,
                                   const std::vector<uint64_t>& counts, uint64_t* calls = nullptr);

// The same with blocks of different lengths drawn from a seed, for algorithms that take them; where long ones go by
// themselves, all are short, few or some, as the seed says.
testing::AssertionResult is_proved_for_vectors(const Algorithm& algorithm, schedule::Shape shape, uint32_t seed,
                                               uint64_t* calls = nullptr);

// TEST_SEED, or one drawn at random. To be printed by who uses it.
uint32_t seed_of_run();

// The long tier: LONG_TESTS is set and not 0.
bool long_tests();

}  // namespace hocket::algorithms
