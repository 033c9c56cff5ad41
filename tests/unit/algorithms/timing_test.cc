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
  uint32_t seed;
};

bool has_result(const Call& call, Collective collective, uint32_t rank) {
  if (collective == Collective::kExscan) return rank != 0;
  return schedule::has_output(collective, rank == call.shape.root);
}

bool is_the_same_everywhere(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kAllreduce ||
         collective == Collective::kAllgather;
}

// The results of all ranks, one behind the other.
std::vector<uint64_t> results(const std::vector<Plan>& plans, const Call& call) {
  Interpreter interpreter(plans, call.count, call.seed);
  const std::string problem = interpreter.run();
  EXPECT_EQ(problem, "");
  const Collective collective = plans[0].collective;
  std::vector<uint64_t> all;
  for (uint32_t rank = 0; rank < call.shape.size; ++rank) {
    const std::vector<uint64_t>& one = interpreter.output(rank);
    if (is_the_same_everywhere(collective)) {
      EXPECT_EQ(one, interpreter.output(0)) << "rank " << rank;
    }
    if (has_result(call, collective, rank)) all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// What collectives that don't combine must give: element i of the block that rank `from` gives to rank `to`.
std::vector<uint64_t> moved(const Call& call, Collective collective) {
  std::vector<uint64_t> all;
  const auto add = [&](uint32_t from, uint64_t block) {
    for (uint64_t i = 0; i < call.count; ++i) all.push_back(Interpreter::operand(from, block * call.count + i));
  };
  for (uint32_t to = 0; to < call.shape.size; ++to) {
    if (!has_result(call, collective, to)) continue;
    if (collective == Collective::kBroadcast) add(call.shape.root, 0);
    if (collective == Collective::kScatter) add(call.shape.root, to);
    const bool gathers = collective == Collective::kGather || collective == Collective::kAllgather;
    for (uint32_t from = 0; from < call.shape.size; ++from) {
      if (gathers) add(from, 0);
      if (collective == Collective::kAlltoall) add(from, to);
    }
  }
  return all;
}

// One shape under several timings, in place too.
void expect_same_bits(const Algorithm& algorithm, const Shape& shape, uint32_t first_seed) {
  SCOPED_TRACE(text(shape));
  // The interpreter's output never lies in the input.
  const bool may_be_in_place = works_in_place(algorithm) && algorithm.collective != Collective::kScatter;
  const std::vector<Plan> apart = plans_of(algorithm, shape);
  const std::vector<Plan> in_place = may_be_in_place ? plans_of(algorithm, placed(shape)) : apart;
  const uint64_t count = algorithm.collective == Collective::kBarrier ? 0 : 3 * shape.segments + shape.size + 1;
  std::vector<uint64_t> expected;
  for (uint32_t i = 0; i < (long_tests() ? 40u : 4u); ++i) {
    const Call call = {shape, count, first_seed + i};
    const std::vector<uint64_t> result = results(i % 2 == 1 ? in_place : apart, call);
    if (i == 0) expected = combines(algorithm) ? result : moved(call, algorithm.collective);
    ASSERT_EQ(result, expected) << "seed " << call.seed;
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
