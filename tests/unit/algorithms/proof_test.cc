// SPDX-License-Identifier: BSD-3-Clause
// Every registered algorithm, proved by the verifier for all small groups and for random ones up to 512 ranks.
#include <algorithm>
#include <iostream>
#include <random>

#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Shape;

class Proof : public testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm() const { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Registered, Proof, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& info) { return test_name(*info.param); });

// What sanitizers look for shows in smaller groups.
uint32_t max_small_size() {
#ifdef HOCKET_SANITIZED
  if (!long_tests()) return 5;
#endif
  return 33;
}
uint32_t max_big_size() {
#ifdef HOCKET_SANITIZED
  if (!long_tests()) return 64;
#endif
  return 512;
}

// Every root up to 17 ranks. Beyond, where a new root is but the old one turned, a few; in the long tier all.
std::vector<uint32_t> roots(const Algorithm& algorithm, uint32_t size) {
  if (!has_root(algorithm)) return {0};
  std::vector<uint32_t> roots;
  for (uint32_t root = 0; root < size; ++root) {
    if (size <= 17 || long_tests() || root <= 1 || root == size / 2 || root == size - 1) roots.push_back(root);
  }
  return roots;
}

std::vector<uint32_t> segment_numbers(const Algorithm& algorithm, const Shape& shape) {
  if (!algorithm.segmented) return {1};
  if (long_tests() || shape.size <= 12) return {1, 2, 3, 9, 20};
  // Neighbouring shapes take different ones.
  static constexpr uint32_t kFew[] = {1, 9, 2, 20, 3};
  const uint32_t first = (shape.size + shape.root + shape.degree) % 5;
  return {kFew[first], kFew[(first + 1) % 5]};
}

bool can_serve(const Algorithm& algorithm, uint32_t size) {
  return size >= algorithm.min_size && size <= algorithm.max_size;
}

TEST_P(Proof, HoldsForAllSmallGroups) {
  uint64_t calls = 0;
  Shape shape;
  for (shape.size = 1; shape.size <= max_small_size(); ++shape.size) {
    if (!can_serve(algorithm(), shape.size)) continue;
    for (const uint32_t degree : degrees_to_prove(algorithm())) {
      shape.degree = degree;
      for (const uint32_t root : roots(algorithm(), shape.size)) {
        shape.root = root;
        for (const uint32_t segments : segment_numbers(algorithm(), shape)) {
          shape.segments = segments;
          for (const bool keep_order : {false, true}) {
            if (keep_order && !(algorithm().can_keep_order && combines(algorithm()))) continue;
            shape.keep_order = keep_order;
            ASSERT_TRUE(is_proved(algorithm(), shape, counts_to_prove(algorithm(), shape), &calls));
            if (!algorithm().takes_vectors) continue;
            for (uint32_t seed = 1; seed <= 3; ++seed) {
              ASSERT_TRUE(is_proved_for_vectors(algorithm(), shape, seed, &calls));
            }
          }
        }
      }
    }
  }
  RecordProperty("verifications", std::to_string(calls));
  EXPECT_GE(calls, max_small_size() - algorithm().min_size + 1);
}

TEST_P(Proof, HoldsForRandomGroupsOfUpTo512Ranks) {
  const uint32_t used_seed = seed_of_run();
  std::cout << "TEST_SEED=" << used_seed << "\n";
  std::mt19937 random(used_seed);
  const auto up_to = [&](uint32_t last) { return std::uniform_int_distribution<uint32_t>(0, last)(random); };
  const std::vector<uint32_t> degrees = degrees_to_prove(algorithm());
  for (int i = 0; i < (long_tests() ? 60 : 3); ++i) {
    Shape shape;
    // Mostly middling, one big; the cost grows with the square of the size and worse, on one node most for leaders, who
    // get blocks from all for all.
    shape.size = i == 0 ? max_big_size() / 2 + 1 + up_to(max_big_size() / 2 - 1) : 1 + up_to(long_tests() ? 511 : 99);
    shape.size = std::min(shape.size, max_big_size());
    if (is_composition(algorithm())) shape.size = 1 + shape.size % 64;
    if (!can_serve(algorithm(), shape.size)) continue;
    if (has_root(algorithm())) shape.root = up_to(shape.size - 1);
    if (algorithm().segmented) shape.segments = 1 + up_to(shape.size > 128 ? 1 : 24);
    shape.degree = degrees[up_to(static_cast<uint32_t>(degrees.size()) - 1)];
    shape.keep_order = algorithm().can_keep_order && combines(algorithm()) && up_to(1) == 1;
    ASSERT_TRUE(is_proved(algorithm(), shape, {1 + up_to(shape.size + 40)})) << "seed " << used_seed;
  }
}

}  // namespace
}  // namespace hocket::algorithms
