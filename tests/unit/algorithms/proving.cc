// SPDX-License-Identifier: BSD-3-Clause
#include "proving.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

namespace hocket::algorithms {

using schedule::Collective;
using schedule::Shape;

std::vector<schedule::Plan> plans_of(const Algorithm& algorithm, Shape shape) {
  std::vector<schedule::Plan> plans;
  plans.reserve(shape.size);
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) plans.push_back(make_plan(algorithm, shape));
  return plans;
}

Shape placed(Shape shape) {
  shape.in_place = true;
  return shape;
}

bool has_root(const Algorithm& algorithm) { return schedule::has_root(algorithm.collective); }

// Of the others a caller copies the input first.
bool works_in_place(const Algorithm& algorithm) {
  return schedule::input_blocks(algorithm.collective, 1) > 0 && !schedule::copies_input_in_place(algorithm.collective);
}

bool combines(const Algorithm& algorithm) { return schedule::combines(algorithm.collective); }

std::string test_name(const Algorithm& algorithm) {
  return std::string(schedule::name(algorithm.collective)) + "_" + std::string(algorithm.name);
}

std::string text(const Shape& shape) {
  return "size " + std::to_string(shape.size) + ", root " + std::to_string(shape.root) + ", segments " +
         std::to_string(shape.segments) + ", degree " + std::to_string(shape.degree) +
         (shape.keep_order ? ", in rank order" : "") + (shape.first_ranks_lead ? ", led by first ranks" : "");
}

std::vector<uint32_t> degrees_to_prove(const Algorithm& algorithm) {
  if (algorithm.degrees.empty()) return {0};
  std::vector<uint32_t> degrees(algorithm.degrees.begin(), algorithm.degrees.end());
  for (const uint32_t extreme : {0u, 1u, 5u, 0xffffffffu}) {
    if (std::find(degrees.begin(), degrees.end(), extreme) == degrees.end()) degrees.push_back(extreme);
  }
  return degrees;
}

std::vector<uint64_t> counts_to_prove(const Algorithm& algorithm, const Shape& shape) {
  if (algorithm.collective == Collective::kBarrier) return {0};
  const uint64_t segments = shape.segments;
  std::vector<uint64_t> counts = {0, 1, 7 * segments + 3};
  // Where segments are cut into a piece a rank: one with no empty pieces.
  if (shape.size > 7) counts.push_back(segments * (shape.size + shape.size / 3) + 1);
  return counts;
}

namespace {

// The plans of a shape, not in place, in place, and of ranks that differ in it.
std::vector<std::vector<schedule::Plan>> plans_to_prove(const Algorithm& algorithm, const Shape& shape) {
  std::vector<std::vector<schedule::Plan>> all = {plans_of(algorithm, shape)};
  if (!works_in_place(algorithm)) return all;
  all.push_back(plans_of(algorithm, placed(shape)));
  // Where nothing but the memory of single ranks differs, a few sizes say what there is to say.
  bool differs = shape.size <= 5;
  for (uint32_t rank = 0; rank < shape.size; ++rank) differs = differs || all[0][rank].steps != all[1][rank].steps;
  for (uint32_t parity = 0; differs && parity < 2; ++parity) {
    std::vector<schedule::Plan> mixed = all[0];
    for (uint32_t rank = parity; rank < shape.size; rank += 2) mixed[rank] = all[1][rank];
    all.push_back(std::move(mixed));
  }
  return all;
}

const char* place_of(const std::vector<schedule::Plan>& plans) {
  const bool first = plans[0].shape.in_place;
  if (plans.size() == 1 || plans[1].shape.in_place == first) return first ? ", in place" : "";
  return first ? ", ranks 0, 2, ... in place" : ", ranks 1, 3, ... in place";
}

}  // namespace

testing::AssertionResult is_proved(const Algorithm& algorithm, const Shape& shape, const std::vector<uint64_t>& counts,
                                   uint64_t* calls) {
  for (const std::vector<schedule::Plan>& plans : plans_to_prove(algorithm, shape)) {
    for (const uint64_t count : counts) {
      const schedule::VerifyOptions options = {
          .count = count, .commutative = !shape.keep_order, .idempotent = algorithm.collective == Collective::kBarrier};
      const schedule::Report report = schedule::verify(plans, options);
      if (calls != nullptr) ++*calls;
      if (report.is_correct()) continue;
      return testing::AssertionFailure() << test_name(algorithm) << ": " << text(shape) << ", count " << count
                                         << place_of(plans) << ":\n"
                                         << report.text();
    }
  }
  return testing::AssertionSuccess();
}

namespace {

// Blocks of different lengths, some of them empty.
std::vector<uint64_t> random_lengths(size_t blocks, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint64_t> lengths(blocks);
  for (uint64_t& length : lengths) length = random() % 3 == 0 ? 0 : random() % 23;
  return lengths;
}

}  // namespace

testing::AssertionResult is_proved_for_vectors(const Algorithm& algorithm, Shape shape, uint32_t seed,
                                               uint64_t* calls) {
  shape.varies = is_composition(algorithm);
  const size_t blocks =
      algorithm.collective == Collective::kAlltoall ? size_t{shape.size} * shape.size : size_t{shape.size};
  const std::vector<uint64_t> lengths = random_lengths(blocks, seed);
  for (const std::vector<schedule::Plan>& plans : plans_to_prove(algorithm, shape)) {
    schedule::VerifyOptions options = {.commutative = !shape.keep_order, .lengths = lengths};
    if (algorithm.passes_on != nullptr && seed % 3 != 0) options.longest_short = seed % 3 * 8 - 4;
    const schedule::Report report = schedule::verify(plans, options);
    if (calls != nullptr) ++*calls;
    if (report.is_correct()) continue;
    return testing::AssertionFailure() << test_name(algorithm) << ": " << text(shape) << ", lengths of seed " << seed
                                       << place_of(plans) << ":\n"
                                       << report.text();
  }
  return testing::AssertionSuccess();
}

uint32_t seed_of_run() {
  if (const char* given = std::getenv("TEST_SEED")) return static_cast<uint32_t>(std::strtoul(given, nullptr, 0));
  return std::random_device{}();
}

bool long_tests() {
  const char* value = std::getenv("LONG_TESTS");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace hocket::algorithms
