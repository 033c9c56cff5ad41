// SPDX-License-Identifier: BSD-3-Clause
// Collectives with a block for each rank and scans, by every registered algorithm, on real ranks through the public
// API: blocks of one length and of different ones, in place, memory that peers map, operations that don't commute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using algorithms::Algorithm;
using schedule::Collective;

constexpr int kSizes[] = {1, 2, 3, 4, 5, 8};
// Elements of 8 bytes in a block: none, one, odd, past a line, past a slot's row, several segments, several calls.
constexpr size_t kCounts[] = {0, 1, 7, 300, 3000, 30'001};
constexpr size_t kLargeCount = 300'001;

// x -> a*x + b modulo 2^32: associative, and it does not commute.
struct Affine {
  uint32_t a;
  uint32_t b;
  bool operator==(const Affine&) const = default;
};
static_assert(sizeof(Affine) == 8);
// Or, for algorithms that combine in any order, the sum.
Affine combine(bool ordered, const Affine& left, const Affine& right) {
  if (!ordered) return {left.a + right.a, left.b + right.b};
  return {left.a * right.a, left.a * right.b + left.b};
}
void combine_all(const void* in, void* inout, size_t count, hocket_type_t, void* ordered) {
  const auto* left = static_cast<const Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (size_t i = 0; i < count; ++i) right[i] = combine(ordered != nullptr, left[i], right[i]);
}
// Element `index` of the block that rank `from` has for rank `to`.
Affine element(int from, int to, size_t index) {
  return {static_cast<uint32_t>(2 * from + 3 + 2 * static_cast<int>(index % 5)),
          static_cast<uint32_t>(from * 31 + to * 1009) + static_cast<uint32_t>(index)};
}
constexpr Affine kGuard = {0xeeeeeeee, 0xeeeeeeee};

using Data = std::vector<Affine>;

// How long the block is that `from` has for `to`: the same for all, or by a rule with zeroes among them.
struct Lengths {
  bool vary;
  size_t count;
  size_t of(int from, int to) const {
    if (!vary) return count;
    return (from + 2 * to) % 3 == 0 ? 0 : count * static_cast<size_t>(1 + (from + to) % 3);
  }
  // Where there is one length a rank: that of what it gives or gets.
  size_t of(int rank) const { return of(rank, 1); }
};

// A buffer with a block a rank, last block first and with room between where lengths vary.
struct Blocks {
  std::vector<size_t> counts;
  std::vector<size_t> displacements;
  size_t extent = 0;

  template <typename LengthOf>
  Blocks(int size, bool vary, bool dense, const LengthOf& length_of) : counts(size), displacements(size) {
    for (int i = 0; i < size; ++i) {
      const int block = vary && !dense ? size - 1 - i : i;
      counts[block] = length_of(block);
      displacements[block] = extent;
      extent += counts[block] + (vary && !dense ? 1 : 0);
    }
  }
};

struct Case {
  Collective collective;
  Lengths lengths;
  int root = 0;
  bool in_place = false;
  bool mapped = false;
  bool started = false;  // and waited for
  bool ordered = true;
  hocket_op_t op = nullptr;
};

// What one rank brings and must end with.
struct Sides {
  Data input;
  Data output;    // before the call; with guards behind it
  Data expected;  // after it
  Blocks in_blocks;
  Blocks out_blocks;
};

Data block(int from, int to, size_t count) {
  Data data(count);
  for (size_t i = 0; i < count; ++i) data[i] = element(from, to, i);
  return data;
}

// The combination of what ranks first..last-1 have for `to`.
Data combined(bool ordered, int last, int to, size_t count) {
  Data data = block(0, to, count);
  for (int from = 1; from < last; ++from) {
    for (size_t i = 0; i < count; ++i) data[i] = combine(ordered, data[i], element(from, to, i));
  }
  return data;
}

void put(Data& into, size_t at, const Data& data) { std::copy(data.begin(), data.end(), into.begin() + at); }

Sides sides_of(const Case& c, const Rank& me) {
  const Collective base = schedule::base_of(c.collective);
  const bool is_root = me.rank == c.root;
  const bool alltoall = base == Collective::kAlltoall;
  const auto gives = [&](int to) { return alltoall ? c.lengths.of(me.rank, to) : c.lengths.of(to); };
  const auto gets = [&](int from) { return alltoall ? c.lengths.of(from, me.rank) : c.lengths.of(from); };
  const bool dense = base == Collective::kReduceScatterBlock;
  Sides s{{}, {}, {}, Blocks(me.size, c.lengths.vary, dense, gives), Blocks(me.size, c.lengths.vary, dense, gets)};
  const size_t own = c.lengths.of(me.rank);
  const bool many_in = schedule::input_blocks(base, 2) == 2;
  const bool many_out = schedule::output_blocks(base, 2) == 2;
  if (schedule::has_input(base, is_root)) s.input.assign(many_in ? s.in_blocks.extent : own, kGuard);
  const bool has_output = schedule::has_output(base, is_root);
  s.output.assign((has_output ? (many_out ? s.out_blocks.extent : own) : 0) + 1, kGuard);
  for (int to = 0; many_in && !s.input.empty() && to < me.size; ++to) {
    put(s.input, s.in_blocks.displacements[to], block(me.rank, to, s.in_blocks.counts[to]));
  }
  if (!many_in && !s.input.empty()) put(s.input, 0, block(me.rank, 0, own));
  s.expected = s.output;
  if (!has_output) return s;
  for (int from = 0; many_out && from < me.size; ++from) {
    put(s.expected, s.out_blocks.displacements[from], block(from, alltoall ? me.rank : 0, s.out_blocks.counts[from]));
  }
  if (base == Collective::kScatter) put(s.expected, 0, block(c.root, me.rank, own));
  if (base == Collective::kReduceScatterBlock) put(s.expected, 0, combined(c.ordered, me.size, me.rank, own));
  if (base == Collective::kScan) put(s.expected, 0, combined(c.ordered, me.rank + 1, 0, own));
  if (base == Collective::kExscan && me.rank > 0) put(s.expected, 0, combined(c.ordered, me.rank, 0, own));
  return s;
}

constexpr hocket_type_t kType = HOCKET_TYPE_OPAQUE(sizeof(Affine));

// The call, blocking or started; `request` is NULL for blocking.
template <typename Blocking, typename Start>
hocket_status_t either(bool started, const Blocking& blocking, const Start& start) {
  if (!started) return blocking();
  hocket_request_t* request = nullptr;
  const hocket_status_t status = start(&request);
  return status != HOCKET_OK ? status : hocket_wait(&request);
}

#define EITHER(name, ...) \
  either(                 \
      c.started, [&] { return name(__VA_ARGS__); }, [&](auto* request) { return name##_start(__VA_ARGS__, request); })

hocket_status_t call(const Case& c, const Rank& me, const void* input, void* output, const Sides& s) {
  const size_t count = c.lengths.of(me.rank);
  const auto& in = s.in_blocks;
  const auto& out = s.out_blocks;
  switch (c.collective) {
    case Collective::kGather:
      return EITHER(hocket_gather, me.comm, input, output, count, kType, c.root);
    case Collective::kScatter:
      return EITHER(hocket_scatter, me.comm, input, output, count, kType, c.root);
    case Collective::kAllgather:
      return EITHER(hocket_allgather, me.comm, input, output, count, kType);
    case Collective::kAlltoall:
      return EITHER(hocket_alltoall, me.comm, input, output, count, kType);
    case Collective::kReduceScatterBlock:
      return EITHER(hocket_reduce_scatter_block, me.comm, input, output, count, kType, c.op);
    case Collective::kScan:
      return EITHER(hocket_scan, me.comm, input, output, count, kType, c.op);
    case Collective::kExscan:
      return EITHER(hocket_exscan, me.comm, input, output, count, kType, c.op);
    case Collective::kGatherv:
      return EITHER(hocket_gatherv, me.comm, input, count, output, out.counts.data(), out.displacements.data(), kType,
                    c.root);
    case Collective::kScatterv:
      return EITHER(hocket_scatterv, me.comm, input, in.counts.data(), in.displacements.data(), output, count, kType,
                    c.root);
    case Collective::kAllgatherv:
      return EITHER(hocket_allgatherv, me.comm, input, output, out.counts.data(), out.displacements.data(), kType);
    case Collective::kAlltoallv:
      return EITHER(hocket_alltoallv, me.comm, input, in.counts.data(), in.displacements.data(), output,
                    out.counts.data(), out.displacements.data(), kType);
    case Collective::kReduceScatter:
      return EITHER(hocket_reduce_scatter, me.comm, input, output, in.counts.data(), kType, c.op);
    default:
      return HOCKET_ERR_NOT_SUPPORTED;
  }
}

// In place: the output holds the input where the call expects it (or, of a scatter, the input the output).
void lay_in_place(const Case& c, const Rank& me, Sides& s) {
  const Collective base = schedule::base_of(c.collective);
  if (base == Collective::kGather || base == Collective::kAllgather) {
    put(s.output, s.out_blocks.displacements[me.rank], s.input);
  } else if (base == Collective::kReduceScatterBlock) {
    // What is behind the result stays as it was.
    s.output = s.input;
    s.output.push_back(kGuard);
    const Data result(s.expected.begin(), s.expected.end() - 1);
    s.expected = s.output;
    put(s.expected, 0, result);
  } else if (base == Collective::kAlltoall) {
    // What comes must be as long as what goes: the caller of this sees to it.
    for (int to = 0; to < me.size; ++to) {
      put(s.output, s.out_blocks.displacements[to], block(me.rank, to, s.out_blocks.counts[to]));
    }
  } else {
    put(s.output, 0, s.input);
  }
}

class Memory {
 public:
  Memory(Rank& me, const Data& data, bool mapped) : me_(me), data_(data), mapped_(mapped) {
    if (!mapped_) return;
    EXPECT_EQ(hocket_alloc(me.context, (data.size() + 1) * sizeof(Affine), &memory_), HOCKET_OK);
    if (!data.empty()) std::memcpy(memory_, data.data(), data.size() * sizeof(Affine));
  }
  ~Memory() {
    if (mapped_) hocket_free(me_.context, memory_);
  }
  Memory(const Memory&) = delete;
  Affine* at() { return mapped_ ? static_cast<Affine*>(memory_) : data_.data(); }
  Data content() { return Data(at(), at() + data_.size()); }

 private:
  Rank& me_;
  Data data_;
  bool mapped_;
  void* memory_ = nullptr;
};

void check(Rank& me, const Case& c) {
  Sides s = sides_of(c, me);
  const Collective base = schedule::base_of(c.collective);
  const bool here = c.in_place && (!has_root(base) || me.rank == c.root);
  if (here && base != Collective::kScatter) lay_in_place(c, me, s);
  Memory input(me, s.input, c.mapped);
  Memory output(me, s.output, c.mapped);
  const void* from = here && base != Collective::kScatter ? HOCKET_IN_PLACE : input.at();
  void* to = here && base == Collective::kScatter ? const_cast<void*>(HOCKET_IN_PLACE) : output.at();
  ASSERT_EQ(call(c, me, from, to, s), HOCKET_OK) << hocket_error_text();
  if (to == HOCKET_IN_PLACE) return;
  if (base == Collective::kExscan && me.rank == 0) return;
  ASSERT_EQ(output.content(), s.expected) << name(c.collective) << " count " << c.lengths.count << " root " << c.root
                                          << (c.in_place ? " in place" : "") << (c.started ? " started" : "");
  ASSERT_EQ(input.content(), s.input) << "the input was changed";
}

hocket_status_t make_op(bool ordered, hocket_op_t& op) {
  static int mark = 0;
  return hocket_op_create(combine_all, ordered ? &mark : nullptr, ordered ? 0 : 1, &op);
}

class Exchanges : public testing::TestWithParam<const Algorithm*> {};

void check_counts(Rank& me, Collective collective, bool ordered, hocket_op_t op) {
  const bool vary = schedule::is_vector(collective);
  for (const size_t count : kCounts) {
    for (int root = 0; root < (has_root(collective) ? me.size : 1); root += me.size > 4 ? 3 : 1) {
      for (const bool in_place : {false, true}) {
        // Different lengths in place would have to be the same both ways.
        if (in_place && collective == Collective::kAlltoallv) continue;
        for (const bool mapped : {false, true}) {
          const bool started = (count + root) % 2 == 1;
          check(me, {collective, {vary, count}, root, in_place, mapped, started, ordered, op});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Exchanges, EndWithWhatBelongsToEveryRank) {
  const Algorithm& algorithm = *GetParam();
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (schedule::base_of(collective) != algorithm.collective) continue;
    const bool can = !schedule::is_vector(collective) ||
                     (algorithm.takes_vectors && (schedule::lengths_are_agreed(collective) || !algorithm.uses_slots));
    if (!can) continue;
    SCOPED_TRACE(std::string(name(collective)));
    for (const int size : kSizes) {
      if (static_cast<uint32_t>(size) < algorithm.min_size || static_cast<uint32_t>(size) > algorithm.max_size)
        continue;
      SCOPED_TRACE("ranks " + std::to_string(size));
      run_threads(size, [&](Rank& me) {
        // Rows that are too long for an algorithm that publishes them are left to the table.
        hocket_op_t op = nullptr;
        ASSERT_EQ(make_op(algorithm.can_keep_order, op), HOCKET_OK);
        if (!algorithm.publishes_rows) {
          ASSERT_EQ(hocket_force(me.comm, std::string(name(collective)).c_str(), std::string(algorithm.name).c_str()),
                    HOCKET_OK)
              << hocket_error_text();
        }
        check_counts(me, collective, algorithm.can_keep_order, op);
        ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
      });
      if (HasFailure()) return;
    }
  }
}

TEST_P(Exchanges, ServeLargeBlocks) {
  const Algorithm& algorithm = *GetParam();
  if (algorithm.publishes_rows || 3 < algorithm.min_size || 3 > algorithm.max_size) GTEST_SKIP();
  run_threads(3, [&](Rank& me) {
    hocket_op_t op = nullptr;
    ASSERT_EQ(make_op(algorithm.can_keep_order, op), HOCKET_OK);
    ASSERT_EQ(
        hocket_force(me.comm, std::string(name(algorithm.collective)).c_str(), std::string(algorithm.name).c_str()),
        HOCKET_OK);
    for (const bool mapped : {false, true}) {
      check(me, {algorithm.collective, {false, kLargeCount}, 0, false, mapped, false, algorithm.can_keep_order, op});
    }
    ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
  });
}

std::vector<const Algorithm*> algorithms_of_exchanges() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective >= Collective::kGather) found.push_back(algorithm);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Registered, Exchanges, testing::ValuesIn(algorithms_of_exchanges()), [](const auto& info) {
  return std::string(name(info.param->collective)) + "_" + std::string(info.param->name);
});

}  // namespace
}  // namespace hocket::test
