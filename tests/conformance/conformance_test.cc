// SPDX-License-Identifier: BSD-3-Clause
// Every registered algorithm, run by the engine on real ranks through the public API, against results computed here:
// sizes, roots, counts from 0 to many segments, in place, memory that peers map, operations that don't commute.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "support/by_parts.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using algorithms::Algorithm;
using schedule::Collective;

// Elements of 8 bytes: none, one, fewer than ranks, odd, several segments, several calls of many segments.
constexpr size_t kCounts[] = {0, 1, 3, 513, 30'001};
constexpr size_t kLargeCount = 700'001;

int64_t value_of(int rank, size_t index) {
  return static_cast<int64_t>(rank + 1) * 1'000'003 + static_cast<int64_t>(index) * 7;
}

std::vector<int64_t> operand(int rank, size_t count) {
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  return values;
}

std::vector<int64_t> sum_of_all(int size, size_t count) {
  std::vector<int64_t> sum(count, 0);
  for (int rank = 0; rank < size; ++rank) {
    for (size_t i = 0; i < count; ++i) sum[i] += value_of(rank, i);
  }
  return sum;
}

// An associative operation that does not commute: the composition of x -> a*x + b, modulo 2^32.
struct AffineMap {
  uint32_t a;
  uint32_t b;
  bool operator==(const AffineMap&) const = default;
};
AffineMap compose(const AffineMap& left, const AffineMap& right) {
  return {left.a * right.a, left.a * right.b + left.b};
}
void compose_all(const void* in, void* inout, size_t count, hocket_type_t, void*) {
  const auto* left = static_cast<const AffineMap*>(in);
  auto* right = static_cast<AffineMap*>(inout);
  for (size_t i = 0; i < count; ++i) right[i] = compose(left[i], right[i]);
}
AffineMap affine_of(int rank, size_t index) {
  return {static_cast<uint32_t>(2 * rank + 3 + 2 * static_cast<int>(index % 5)),
          static_cast<uint32_t>(rank * 31) + static_cast<uint32_t>(index)};
}
std::vector<AffineMap> composition(int size, size_t count) {
  std::vector<AffineMap> result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = affine_of(0, i);
    for (int rank = 1; rank < size; ++rank) result[i] = compose(result[i], affine_of(rank, i));
  }
  return result;
}

class Conformance : public testing::TestWithParam<const Algorithm*> {
 protected:
  // Runs `body` for every size that the algorithm serves, forced to it with these parameters.
  static void for_each_size(const std::function<void(Rank&)>& body, const std::string& parameters = "") {
    const Algorithm& algorithm = *GetParam();
    // TEST_ACROSS: what a composition does between nodes.
    const char* across = std::getenv("TEST_ACROSS");
    std::string forced = std::string(algorithm.name) + parameters;
    if (across != nullptr) forced += (parameters.empty() ? ":across=" : ",across=") + std::string(across);
    bool serves_several = false;
    for (const int size : kTeamSizes) {
      if (static_cast<uint32_t>(size) < algorithm.min_size || static_cast<uint32_t>(size) > algorithm.max_size)
        continue;
      if (!serves_team(algorithm, algorithm.collective, size)) continue;
      serves_several |= size > 1;
      SCOPED_TRACE("ranks " + std::to_string(size));
      run_threads(size, [&](Rank& me) {
        const std::string collective(name(algorithm.collective));
        ASSERT_EQ(hocket_force(me.comm, collective.c_str(), forced.c_str()), HOCKET_OK) << hocket_error_text();
        body(me);
      });
    }
    if (serves_several) return;
    ASSERT_FALSE(has_multicast()) << "what was to be tried serves one rank only";
    GTEST_SKIP() << "serves one rank only where ranks are so placed";
  }
};

void check_broadcast(Rank& me, size_t count, bool mapped) {
  for (int root = 0; root < me.size; root += (me.size > 4 ? 3 : 1)) {
    void* memory = nullptr;
    std::vector<int64_t> plain(count + 1);
    if (mapped) {
      ASSERT_EQ(hocket_alloc(me.context, (count + 1) * sizeof(int64_t), &memory), HOCKET_OK);
    }
    auto* buffer = mapped ? static_cast<int64_t*>(memory) : plain.data();
    const std::vector<int64_t> expected = operand(root, count);
    std::memset(buffer, 0xee, (count + 1) * sizeof(int64_t));
    if (me.rank == root && count != 0) std::memcpy(buffer, expected.data(), count * sizeof(int64_t));
    ASSERT_EQ(hocket_broadcast(me.comm, buffer, count, HOCKET_INT64, root), HOCKET_OK) << hocket_error_text();
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), buffer)) << "root " << root << " count " << count;
    int64_t guard = 0;
    std::memset(&guard, 0xee, sizeof guard);
    ASSERT_EQ(buffer[count], guard) << "wrote past the end";
    if (mapped) {
      ASSERT_EQ(hocket_free(me.context, memory), HOCKET_OK);
    }
  }
}

// Of the root's data nothing is there before it is asked for.
void check_broadcast_on_demand(Rank& me, size_t count) {
  const int root = me.size - 1;
  const std::vector<int64_t> expected = operand(root, count);
  std::vector<int64_t> buffer(count);
  const auto bytes = std::as_bytes(std::span(expected)).first(me.rank == root ? count * sizeof(int64_t) : 0);
  ByParts parts(bytes, reinterpret_cast<std::byte*>(buffer.data()), std::as_bytes(std::span(buffer)));
  c_api::Arguments arguments;
  arguments.collective = schedule::Collective::kBroadcast;
  arguments.output = reinterpret_cast<std::byte*>(buffer.data());
  arguments.count = count * sizeof(int64_t);
  arguments.root = static_cast<uint32_t>(root);
  arguments.on_demand = &parts;
  ASSERT_EQ(c_api::run(me.comm, arguments), HOCKET_OK) << hocket_error_text();
  if (me.rank != root) {
    ASSERT_EQ(buffer, expected) << "count " << count;
  }
  ASSERT_TRUE(parts.has_taken_results()) << "count " << count;
}

void check_reduce(Rank& me, size_t count, bool mapped, bool in_place) {
  const std::vector<int64_t> expected = sum_of_all(me.size, count);
  for (int root = 0; root < me.size; root += (me.size > 4 ? 3 : 1)) {
    std::vector<int64_t> mine = operand(me.rank, count);
    std::vector<int64_t> plain(count, -1);
    void* memory = nullptr;
    if (mapped) {
      ASSERT_EQ(hocket_alloc(me.context, count * sizeof(int64_t), &memory), HOCKET_OK);
    }
    int64_t* input = mapped ? static_cast<int64_t*>(memory) : mine.data();
    if (mapped && count != 0) std::memcpy(input, mine.data(), count * sizeof(int64_t));
    const bool at_root = me.rank == root;
    int64_t* output = !at_root ? nullptr : in_place ? input : plain.data();
    const void* operand_at = at_root && in_place ? HOCKET_IN_PLACE : input;
    ASSERT_EQ(hocket_reduce(me.comm, operand_at, output, count, HOCKET_INT64, HOCKET_SUM, root), HOCKET_OK)
        << hocket_error_text();
    if (at_root) {
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), output)) << "root " << root << " count " << count;
    } else {
      const std::vector<int64_t> before = operand(me.rank, count);
      ASSERT_TRUE(std::equal(before.begin(), before.end(), input)) << "input was changed";
    }
    if (mapped) {
      ASSERT_EQ(hocket_free(me.context, memory), HOCKET_OK);
    }
  }
}

void check_allreduce(Rank& me, size_t count, bool mapped, bool in_place) {
  const std::vector<int64_t> expected = sum_of_all(me.size, count);
  std::vector<int64_t> mine = operand(me.rank, count);
  void* memory = nullptr;
  if (mapped) {
    ASSERT_EQ(hocket_alloc(me.context, count * sizeof(int64_t), &memory), HOCKET_OK);
  }
  int64_t* input = mapped ? static_cast<int64_t*>(memory) : mine.data();
  if (mapped && count != 0) std::memcpy(input, mine.data(), count * sizeof(int64_t));
  std::vector<int64_t> plain(count, -1);
  int64_t* output = in_place ? input : plain.data();
  ASSERT_EQ(hocket_allreduce(me.comm, in_place ? HOCKET_IN_PLACE : input, output, count, HOCKET_INT64, HOCKET_SUM),
            HOCKET_OK)
      << hocket_error_text();
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), output)) << "count " << count;
  if (mapped) {
    ASSERT_EQ(hocket_free(me.context, memory), HOCKET_OK);
  }
}

TEST_P(Conformance, GivesTheResultForEveryCountRootAndPlaceOfMemory) {
  for_each_size([](Rank& me) {
    std::vector<size_t> counts(std::begin(kCounts), std::end(kCounts));
    if (me.size <= 3) counts.push_back(kLargeCount);
    for (const size_t count : counts) {
      for (const bool mapped : {false, true}) {
        switch (GetParam()->collective) {
          case Collective::kBarrier:
            ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
            break;
          case Collective::kBroadcast:
            check_broadcast(me, count, mapped);
            if (!mapped) check_broadcast_on_demand(me, count);
            break;
          case Collective::kReduce:
            check_reduce(me, count, mapped, false);
            check_reduce(me, count, mapped, true);
            break;
          case Collective::kAllreduce:
            check_allreduce(me, count, mapped, false);
            check_allreduce(me, count, mapped, true);
            break;
          default:
            FAIL() << "not in this suite";
        }
      }
    }
  });
}

class SegmentedConformance : public Conformance {};
class BarrierConformance : public Conformance {};
class ReductionConformance : public Conformance {};

// Of messages, too, which are cut only where somebody asks for it.
TEST_P(SegmentedConformance, GivesTheResultInSegments) {
  const auto body = [](Rank& me) {
    for (const size_t count : {1, 513, 30'001}) {
      if (GetParam()->collective == Collective::kBroadcast) check_broadcast(me, count, false);
      if (GetParam()->collective == Collective::kReduce) check_reduce(me, count, false, true);
      if (GetParam()->collective == Collective::kAllreduce) check_allreduce(me, count, false, true);
    }
  };
  for_each_size(body, ":segment=4K");
}

TEST_P(BarrierConformance, LetsNobodyOutBeforeTheLastIsIn) {
  std::atomic<int> inside[64] = {};
  for_each_size([&](Rank& me) {
    for (int round = 0; round < 60; ++round) {
      // One word a round: whoever comes out sees all of them in.
      inside[round].fetch_add(1);
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(inside[round].load() % me.size, 0) << "round " << round;
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
      if (me.rank == 0) inside[round].store(0);
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
    }
  });
}

TEST_P(ReductionConformance, KeepsRankOrderForOperationsThatDoNotCommute) {
  const Collective collective = GetParam()->collective;
  hocket_op_t op = nullptr;
  ASSERT_EQ(hocket_op_create(compose_all, nullptr, 0, &op), HOCKET_OK);
  for_each_size([&](Rank& me) {
    for (const size_t count : kCounts) {
      const std::vector<AffineMap> expected = composition(me.size, count);
      std::vector<AffineMap> input(count);
      for (size_t i = 0; i < count; ++i) input[i] = affine_of(me.rank, i);
      std::vector<AffineMap> output(count);
      const hocket_type_t type = HOCKET_TYPE_OPAQUE(sizeof(AffineMap));
      for (int root = 0; root < me.size; ++root) {
        const hocket_status_t status = collective == Collective::kReduce
                                           ? hocket_reduce(me.comm, input.data(), output.data(), count, type, op, root)
                                           : hocket_allreduce(me.comm, input.data(), output.data(), count, type, op);
        if (!GetParam()->can_keep_order || !serves_team(*GetParam(), collective, me.size, true)) {
          ASSERT_EQ(status, HOCKET_ERR_INVALID_ARGUMENT) << "an algorithm that can't keep the order must refuse";
          continue;
        }
        ASSERT_EQ(status, HOCKET_OK) << hocket_error_text();
        if (collective == Collective::kAllreduce || me.rank == root) {
          ASSERT_EQ(output, expected) << "root " << root;
        }
      }
    }
  });
  ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
}

// One rank runs as far ahead as it may, another is late: successive calls must not disturb each other.
TEST_P(Conformance, SuccessiveCallsDoNotDisturbEachOther) {
  const Algorithm& algorithm = *GetParam();
  for_each_size([&](Rank& me) {
    for (int round = 0; round < 300; ++round) {
      const int root = round % me.size;
      const size_t count = round % 7 == 0 ? 4000 : 2;
      std::vector<int64_t> data(count, round * 100 + me.rank);
      std::vector<int64_t> result(count, -1);
      int64_t all = 0;
      for (int rank = 0; rank < me.size; ++rank) all += round * 100 + rank;
      switch (algorithm.collective) {
        case Collective::kBarrier:
          ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
          break;
        case Collective::kBroadcast:
          ASSERT_EQ(hocket_broadcast(me.comm, data.data(), count, HOCKET_INT64, root), HOCKET_OK);
          ASSERT_EQ(data, std::vector<int64_t>(count, round * 100 + root));
          break;
        case Collective::kReduce:
          ASSERT_EQ(hocket_reduce(me.comm, data.data(), result.data(), count, HOCKET_INT64, HOCKET_SUM, root),
                    HOCKET_OK);
          if (me.rank == root) {
            ASSERT_EQ(result, std::vector<int64_t>(count, all));
          }
          break;
        case Collective::kAllreduce:
          ASSERT_EQ(hocket_allreduce(me.comm, data.data(), result.data(), count, HOCKET_INT64, HOCKET_SUM), HOCKET_OK);
          ASSERT_EQ(result, std::vector<int64_t>(count, all));
          break;
        default:
          FAIL() << "not in this suite";
      }
    }
  });
}

std::string test_name(const testing::TestParamInfo<const Algorithm*>& info) {
  return std::string(name(info.param->collective)) + "_" + std::string(info.param->name);
}

std::vector<const Algorithm*> algorithms_for(std::initializer_list<Collective> collectives) {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms::all()) {
    if (std::find(collectives.begin(), collectives.end(), algorithm->collective) != collectives.end()) {
      found.push_back(algorithm);
    }
  }
  return found;
}

// The others are in exchanges_test.cc.
INSTANTIATE_TEST_SUITE_P(SharedMemory, Conformance,
                         testing::ValuesIn(algorithms_for({Collective::kBarrier, Collective::kBroadcast,
                                                           Collective::kReduce, Collective::kAllreduce})),
                         test_name);
std::vector<const Algorithm*> segmented_algorithms() {
  std::vector<const Algorithm*> found =
      algorithms_for({Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce});
  std::erase_if(found, [](const Algorithm* algorithm) { return !algorithm->segmented; });
  return found;
}
INSTANTIATE_TEST_SUITE_P(SharedMemory, SegmentedConformance, testing::ValuesIn(segmented_algorithms()), test_name);
INSTANTIATE_TEST_SUITE_P(SharedMemory, BarrierConformance, testing::ValuesIn(algorithms_for({Collective::kBarrier})),
                         test_name);
INSTANTIATE_TEST_SUITE_P(SharedMemory, ReductionConformance,
                         testing::ValuesIn(algorithms_for({Collective::kReduce, Collective::kAllreduce})), test_name);

}  // namespace
}  // namespace hocket::test
