// SPDX-License-Identifier: BSD-3-Clause
// The C++ header: types, lengths, lifetimes and errors; that the collectives are right is tested elsewhere.
#include <gtest/gtest.h>
#include <hocket/hocket.hpp>

#include <numeric>
#include <vector>

#include "support/team.h"

namespace hocket::test {
namespace {

static_assert(type_of<int32_t>() == HOCKET_INT32 && type_of<uint8_t>() == HOCKET_UINT8);
static_assert(type_of<long>() == HOCKET_INT64 && type_of<char>() == HOCKET_INT8);
static_assert(type_of<double>() == HOCKET_DOUBLE && type_of<std::complex<float>>() == HOCKET_COMPLEX_FLOAT);
static_assert(type_of<bool>() == HOCKET_BOOL && type_of<std::byte>() == HOCKET_BYTE);
struct Pair {
  int32_t a;
  int32_t b;
};
static_assert(type_of<Pair>() == HOCKET_TYPE_OPAQUE(8));

template <typename T>
std::span<const T> in(const std::vector<T>& data) {
  return data;
}
template <typename T>
std::span<T> out(std::vector<T>& data) {
  return data;
}

TEST(CxxHeader, CarriesOutEveryCollectiveOnSpans) {
  run_threads(3, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    ASSERT_EQ(comm.rank(), me.rank);
    ASSERT_EQ(comm.size(), 3);
    const std::vector<int> mine = {me.rank, 10 * me.rank};
    std::vector<int> row(6);
    comm.barrier();
    comm.allgather(in(mine), out(row));
    EXPECT_EQ(row, (std::vector<int>{0, 0, 1, 10, 2, 20}));
    std::vector<int> turned(6);
    comm.alltoall(in(row), out(turned));
    EXPECT_EQ(turned[0], row[2 * static_cast<size_t>(me.rank)]);
    std::vector<int> sums(2);
    comm.reduce_scatter_block(in(row), out(sums), HOCKET_SUM);
    EXPECT_EQ(sums[0], 3 * me.rank);
    comm.scan(in(mine), out(sums), HOCKET_SUM);
    EXPECT_EQ(sums[0], me.rank * (me.rank + 1) / 2);
    const std::vector<size_t> counts = {0, 1, 2};
    const std::vector<int> own(static_cast<size_t>(me.rank), me.rank);
    std::vector<int> all(3);
    Request request = comm.allgatherv_start(in(own), out(all), Blocks{counts, {}});
    request.wait();
    EXPECT_EQ(all, (std::vector<int>{1, 2, 2}));
    EXPECT_TRUE(request.test()) << "a request that is complete stays so";
    EXPECT_EQ(comm.allreduce(me.rank + 1, HOCKET_PROD), 6);
    int value = me.rank;
    comm.broadcast(value, 2);
    EXPECT_EQ(value, 2);
  });
}

// The same memory twice is in place; each result is that of the two buffers.
TEST(CxxHeader, TakesTheSameMemoryTwiceAsInPlace) {
  run_threads(3, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const auto rank = static_cast<size_t>(me.rank);
    std::vector<int> sums = {me.rank, 1};
    comm.allreduce(in(sums), out(sums), HOCKET_SUM);
    EXPECT_EQ(sums, (std::vector<int>{3, 3}));
    comm.reduce(in(sums), me.rank == 1 ? out(sums) : std::span<int>(), HOCKET_SUM, 1);
    EXPECT_EQ(sums[0], me.rank == 1 ? 9 : 3);
    comm.scan_start(in(sums), out(sums), HOCKET_MAX).wait();
    EXPECT_EQ(sums[0], me.rank == 0 ? 3 : 9);

    std::vector<int> row = {-1, -1, -1};
    row[rank] = me.rank;
    comm.allgather(in(row).subspan(rank, 1), out(row));
    EXPECT_EQ(row, (std::vector<int>{0, 1, 2}));
    for (int& block : row) block = 10 * me.rank + block;
    comm.alltoall(in(row), out(row));
    EXPECT_EQ(row, (std::vector<int>{me.rank, 10 + me.rank, 20 + me.rank}));
    comm.gather(in(row).subspan(rank, 1), me.rank == 2 ? out(row) : std::span<int>(), 2);
    if (me.rank == 2) {
      EXPECT_EQ(row, (std::vector<int>{0, 11, 22}));
    }
    comm.scatter(me.rank == 2 ? in(row) : std::span<const int>(), out(row).subspan(rank, 1), 2);
    EXPECT_EQ(row[rank], 11 * me.rank);

    const std::vector<size_t> counts = {0, 1, 2};
    std::vector<int> all(3, me.rank);
    comm.allgatherv(in(all).subspan(rank == 2 ? 1 : 0, rank), out(all), Blocks{counts, {}});
    EXPECT_EQ(all, (std::vector<int>{1, 2, 2}));
    comm.reduce_scatter(in(all), out(all).first(rank), counts, HOCKET_SUM);
    if (me.rank > 0) {
      EXPECT_EQ(all[0], me.rank == 1 ? 3 : 6);
    }
  });
}

TEST(CxxHeader, CombinesByFunctionObjectsInRankOrder) {
  run_threads(4, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const auto first = make_op<Pair>([](const Pair& left, const Pair& right) { return Pair{left.a, right.b}; });
    const Pair ends = comm.allreduce(Pair{me.rank, me.rank}, first);
    EXPECT_EQ(ends.a, 0);
    EXPECT_EQ(ends.b, 3);
  });
}

TEST(CxxHeader, ThrowsWhatTheLibrarySaysAndWhatSpansCannotBe) {
  run_threads(2, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    std::vector<int> three(3);
    std::vector<int> two(2);
    EXPECT_THROW(comm.alltoall(in(three), out(three)), Error);
    EXPECT_THROW(comm.allreduce(in(three), out(two), HOCKET_SUM), Error);
    const std::vector<size_t> counts = {1, 3};
    EXPECT_THROW(comm.allgatherv(in(three), out(three), Blocks{counts, {}}), Error);
    try {
      comm.broadcast(out(two), 7);
      FAIL() << "7 is not a rank";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), HOCKET_ERR_INVALID_ARGUMENT);
      EXPECT_NE(std::string(error.what()).find("root 7"), std::string::npos) << error.what();
    }
  });
}

// A rank that leaves because of an exception keeps nobody waiting, and passes for nobody's peer in a barrier.
TEST(CxxHeader, ExceptionOfOneRankIsAnErrorOfTheOthers) {
  for (const bool with_request : {false, true}) {
    run_threads(3, [with_request](Rank& me) {
      Context context;
      bool has_failed = false;
      try {
        Comm comm(context, me.bootstrap);
        Request request;
        if (with_request) request = comm.barrier_start();
        if (me.rank == 1) throw Error(HOCKET_ERR_INVALID_ARGUMENT, "rank 1 has had enough");
        comm.barrier();
        request.wait();
      } catch (const Error& error) {
        has_failed = true;
        EXPECT_EQ(error.status() == HOCKET_ERR_INVALID_ARGUMENT, me.rank == 1) << error.what();
      }
      EXPECT_TRUE(has_failed);
    });
  }
}

TEST(CxxHeader, SplitsAndMovesCommunicators) {
  run_threads(4, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    Comm half = comm.split(me.rank % 2);
    EXPECT_EQ(half.size(), 2);
    Comm none = comm.split(-1);
    EXPECT_FALSE(none);
    Comm moved = std::move(half);
    EXPECT_EQ(moved.allreduce(1, HOCKET_SUM), 2);
    auto memory = context.allocate<double>(1000);
    std::iota(memory.get(), memory.get() + 1000, 0.0);
    comm.broadcast(std::span<double>(memory.get(), 1000), 3);
    EXPECT_EQ(memory[999], 999.0);
  });
}

}  // namespace
}  // namespace hocket::test
