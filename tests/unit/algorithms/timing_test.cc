// SPDX-License-Identifier: BSD-3-Clause
// Whatever the timing, the same bits on every rank and on every run: what fixed-order reductions promise.
#include <cstdlib>
#include <iostream>

#include "interpreter.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;
using schedule::Plan;
using schedule::Shape;

class Timing : public testing::TestWithParam<const Algorithm*> {};

INSTANTIATE_TEST_SUITE_P(Registered, Timing, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& info) { return test_name(*info.param); });

struct Call {
  Shape shape;
  uint64_t count;
  bool in_place;
  uint32_t seed;
};

// The result of a rooted collective is its root's, of the others rank 0's.
std::vector<uint64_t> result_everywhere(const std::vector<Plan>& plans, const Call& call) {
  Interpreter interpreter(plans, call.count, call.in_place, call.seed);
  const std::string problem = interpreter.run();
  EXPECT_EQ(problem, "");
  const Collective collective = plans[0].collective;
  const std::vector<uint64_t>& result = interpreter.output(call.shape.root);
  for (uint32_t rank = 0; rank < call.shape.size; ++rank) {
    if (collective == Collective::kReduce && rank != call.shape.root) continue;
    EXPECT_EQ(interpreter.output(rank), result) << "rank " << rank;
  }
  return result;
}

// What collectives that don't combine must give.
void expect_moved(const Call& call, Collective collective, const std::vector<uint64_t>& result) {
  for (uint64_t i = 0; i < result.size(); ++i) {
    if (collective == Collective::kBroadcast) {
      ASSERT_EQ(result[i], Interpreter::operand(call.shape.root, i));
    } else if (collective == Collective::kAllgather) {
      ASSERT_EQ(result[i], Interpreter::operand(static_cast<uint32_t>(i / call.count), i % call.count));
    }
  }
}

// One shape under several timings, in place too.
void expect_same_bits(const Algorithm& algorithm, const Shape& shape, uint32_t first_seed) {
  SCOPED_TRACE(text(shape));
  const std::vector<Plan> plans = plans_of(algorithm, shape);
  const uint64_t count = algorithm.collective == Collective::kBarrier ? 0 : 3 * shape.segments + shape.size + 1;
  std::vector<uint64_t> expected;
  for (uint32_t i = 0; i < (long_tests() ? 40u : 4u); ++i) {
    const Call call = {shape, count, has_input(algorithm) && i % 2 == 1, first_seed + i};
    const std::vector<uint64_t> result = result_everywhere(plans, call);
    if (i == 0) expected = result;
    ASSERT_EQ(result, expected) << "seed " << call.seed;
    expect_moved(call, algorithm.collective, result);
  }
}

TEST_P(Timing, LeavesEveryRankTheSameBits) {
  const Algorithm& algorithm = *GetParam();
  const uint32_t first_seed = seed_of_run();
  std::cout << "TEST_SEED=" << first_seed << "\n";
  const std::vector<uint32_t> segment_numbers = algorithm.segmented ? std::vector{1u, 2u, 9u, 20u} : std::vector{1u};
  Shape shape;
  for (const uint32_t size : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 11u, 16u}) {
    if (size < algorithm.min_size || size > algorithm.max_size) continue;
    shape.size = size;
    for (const uint32_t degree : degrees_to_prove(algorithm)) {
      shape.degree = degree;
      for (const uint32_t segments : segment_numbers) {
        shape.segments = segments;
        shape.root = has_root(algorithm) ? (first_seed + segments) % size : 0;
        for (const bool keep_order : {false, true}) {
          if (keep_order && !(algorithm.can_keep_order && combines(algorithm))) continue;
          shape.keep_order = keep_order;
          expect_same_bits(algorithm, shape, first_seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hocket::algorithms
