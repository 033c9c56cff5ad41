// SPDX-License-Identifier: BSD-3-Clause
// The C++ header of planned calls: types, lengths, lifetimes and errors; that the calls are right is tested elsewhere.
#include <gtest/gtest.h>
#include <hocket/persistent.hpp>

#include <array>
#include <numeric>
#include <vector>

#include "support/team.h"

namespace hocket::test {
namespace {

template <typename T>
std::span<const T> read(const std::vector<T>& data) {
  return data;
}
template <typename T>
std::span<T> written(std::vector<T>& data) {
  return data;
}

TEST(CxxPersistent, CarriesOutEveryCollectiveOnSpans) {
  run_threads(3, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const auto rank = static_cast<size_t>(me.rank);
    const std::array<size_t, 3> counts = {0, 1, 2};
    std::vector<int> mine(2), row(6), turned(6), gathered(6), sums(2), block(2), reduced(2), scanned(2), before(2);
    std::vector<int> own(rank), all(3), mixed(3), share(rank), blocks(9), scattered(2), part(rank);
    std::vector<PersistentRequest> calls;
    calls.push_back(barrier_init(comm));
    calls.push_back(broadcast_init(comm, written(scattered), 1));
    calls.push_back(allgather_init(comm, read(mine), written(row)));
    calls.push_back(alltoall_init(comm, read(gathered), written(turned)));
    calls.push_back(gather_init(comm, read(mine), written(blocks).first(6), 2));
    calls.push_back(scatter_init(comm, read(gathered), written(block), 0));
    calls.push_back(allreduce_init(comm, read(mine), written(sums), HOCKET_SUM));
    calls.push_back(reduce_init(comm, read(mine), written(reduced), HOCKET_MAX, 1));
    calls.push_back(scan_init(comm, read(mine), written(scanned), HOCKET_SUM));
    calls.push_back(exscan_init(comm, read(mine), written(before), HOCKET_SUM));
    calls.push_back(allgatherv_init(comm, read(own), written(all), Blocks{counts, {}}));
    calls.push_back(gatherv_init(comm, read(own), written(mixed), Blocks{counts, {}}, 0));
    calls.push_back(scatterv_init(comm, read(gathered).first(3), Blocks{counts, {}}, written(share), 1));
    calls.push_back(reduce_scatter_init(comm, read(gathered).first(3), written(part), counts, HOCKET_SUM));
    std::vector<int> shared(2);
    calls.push_back(reduce_scatter_block_init(comm, read(gathered), written(shared), HOCKET_SUM));
    const std::array<size_t, 3> twos = {2, 2, 2};
    std::vector<int> turned_too(6);
    calls.push_back(alltoallv_init(comm, read(gathered), Blocks{twos, {}}, written(turned_too), Blocks{twos, {}}));
    for (int round = 0; round < 4; ++round) {
      mine[0] = me.rank + round;
      mine[1] = 10 * me.rank;
      std::iota(gathered.begin(), gathered.end(), 100 * me.rank + round);
      std::fill(own.begin(), own.end(), me.rank + round);
      if (me.rank == 1) scattered[0] = round;
      start_all(calls);
      for (PersistentRequest& call : calls) call.wait();
      EXPECT_EQ(scattered[0], round);
      EXPECT_EQ(row, (std::vector<int>{round, 0, 1 + round, 10, 2 + round, 20}));
      EXPECT_EQ(turned[2], 100 + 2 * me.rank + round);
      EXPECT_EQ(turned_too, turned);
      EXPECT_EQ(me.rank == 2 ? blocks[4] : 2 + round, 2 + round);
      EXPECT_EQ(block[1], 2 * me.rank + 1 + round);
      EXPECT_EQ(sums, (std::vector<int>{3 + 3 * round, 30}));
      EXPECT_EQ(me.rank == 1 ? reduced[1] : 20, 20);
      EXPECT_EQ(scanned[1], 10 * (me.rank == 2 ? 3 : me.rank));
      EXPECT_EQ(before[1], me.rank == 2 ? 10 : 0);
      EXPECT_EQ(all, (std::vector<int>{1 + round, 2 + round, 2 + round}));
      EXPECT_EQ(me.rank == 0 ? mixed : all, all);
      EXPECT_EQ(me.rank == 0 ? 0 : share[0], me.rank == 0 ? 0 : 100 + round + me.rank - 1);
      EXPECT_EQ(me.rank == 0 ? 0 : part[0], me.rank == 0 ? 0 : 300 + 3 * (round + me.rank - 1));
      EXPECT_EQ(shared[0], 300 + 3 * (round + 2 * me.rank));
    }
  });
}

TEST(CxxPersistent, ExchangesAmongNeighbours) {
  run_threads(4, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const int left = (me.rank + 3) % 4, right = (me.rank + 1) % 4;
    std::vector<double> edges(2), ghosts(2), both(2), of_both(2), mixed(2);
    std::vector<PersistentRequest> calls;
    {
      auto ring = Neighbourhood::grid(comm, std::array{4}, std::array{1});
      const std::array<size_t, 2> ones = {1, 1};
      calls.push_back(alltoall_init(ring, read(edges), written(ghosts), 1));
      calls.push_back(allgather_init(ring, read(edges).first(1), written(both)));
      calls.push_back(allgatherv_init(ring, read(edges).first(1), written(of_both), Blocks{ones, {}}));
      calls.push_back(alltoallv_init(ring, read(edges), Blocks{ones, {}}, written(mixed), Blocks{ones, {}}));
      EXPECT_THROW((void)alltoall_init(ring, read(edges), written(ghosts), 2), Error);
      EXPECT_THROW((void)allgatherv_init(ring, read(edges), written(both).first(1), Blocks{ones, {}}), Error);
    }
    for (int round = 0; round < 4; ++round) {
      edges[0] = me.rank + round + 0.25;
      edges[1] = me.rank + round + 0.5;
      start_all(calls);
      for (PersistentRequest& call : calls) call.wait();
      EXPECT_EQ(ghosts, (std::vector<double>{left + round + 0.5, right + round + 0.25}));
      EXPECT_EQ(mixed, ghosts);
      EXPECT_EQ(both, (std::vector<double>{left + round + 0.25, right + round + 0.25}));
      EXPECT_EQ(of_both, both);
    }
  });
}

TEST(CxxPersistent, TakesTheSameMemoryTwiceAsInPlace) {
  run_threads(3, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const auto rank = static_cast<size_t>(me.rank);
    std::vector<int> sums(2), row(3);
    PersistentRequest sum = allreduce_init(comm, read(sums), written(sums), HOCKET_SUM);
    PersistentRequest ranks = allgather_init(comm, read(row).subspan(rank, 1), written(row));
    for (int round = 0; round < 3; ++round) {
      std::fill(sums.begin(), sums.end(), me.rank + round);
      std::fill(row.begin(), row.end(), -1);
      row[rank] = me.rank + round;
      start_all(ranks, sum);
      sum.wait();
      while (!ranks.test()) continue;
      EXPECT_EQ(sums, (std::vector<int>{3 + 3 * round, 3 + 3 * round}));
      EXPECT_EQ(row, (std::vector<int>{round, 1 + round, 2 + round}));
    }
  });
}

TEST(CxxPersistent, ThrowsWhatTheLibrarySaysAndMayOutliveItsCommunicator) {
  run_threads(2, [](Rank& me) {
    Context context;
    std::vector<int> data(2), other(3);
    PersistentRequest request, idle;
    EXPECT_THROW(request.start(), Error);
    EXPECT_TRUE(request.test());
    {
      Comm comm(context, me.bootstrap);
      EXPECT_THROW((void)allreduce_init(comm, read(data), written(other), HOCKET_SUM), Error);
      EXPECT_THROW((void)broadcast_init(comm, written(data), 5), Error);
      request = broadcast_init(comm, written(data), 0);
      idle = barrier_init(comm);
      EXPECT_TRUE(idle.test());
      data[1] = 7 * (1 - me.rank);
      request.start();
      EXPECT_THROW(request.start(), Error);
      PersistentRequest moved = std::move(request);
      moved.wait();
      EXPECT_EQ(data[1], 7);
      moved.start();  // and is waited for when it goes
    }
    EXPECT_THROW(idle.start(), Error);
    idle.wait();
  });
}

TEST(CxxPersistent, ExceptionOfOneRankIsAnErrorOfTheOthers) {
  run_threads(3, [](Rank& me) {
    Context context;
    bool has_failed = false;
    try {
      Comm comm(context, me.bootstrap);
      PersistentRequest request = barrier_init(comm), idle = barrier_init(comm);
      if (me.rank != 2) request.start();
      if (me.rank == 1) throw Error(HOCKET_ERR_INVALID_ARGUMENT, "rank 1 has had enough");
      if (me.rank == 2) comm.barrier();
      request.wait();
    } catch (const Error& error) {
      has_failed = true;
      EXPECT_EQ(error.status() == HOCKET_ERR_INVALID_ARGUMENT, me.rank == 1) << error.what();
    }
    EXPECT_TRUE(has_failed);
  });
}

}  // namespace
}  // namespace hocket::test
