// SPDX-License-Identifier: BSD-3-Clause
// The C++ header of collectives among neighbours: types, lengths, lifetimes and errors.
#include <gtest/gtest.h>
#include <hocket/neighbourhoods.hpp>

#include <array>
#include <vector>

#include "support/team.h"

namespace hocket::test {
namespace {

TEST(CxxNeighbourhood, ExchangesBlocksOnSpans) {
  run_threads(4, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    const int left = (me.rank + 3) % 4;
    const int right = (me.rank + 1) % 4;
    auto ring = Neighbourhood::grid(comm, std::array{4}, std::array{1});
    EXPECT_EQ(ring.sources(), (std::vector<int>{left, right}));
    EXPECT_EQ(ring.destinations(), (std::vector<int>{left, right}));
    const std::vector<double> edges = {me.rank + 0.25, me.rank + 0.5};
    std::vector<double> ghosts(2);
    ring.alltoall(std::span<const double>(edges), std::span(ghosts), 1);
    EXPECT_EQ(ghosts, (std::vector<double>{left + 0.5, right + 0.25}));
    const std::vector<int> mine = {me.rank};
    std::vector<int> both(2);
    Request request = ring.allgather_start(std::span<const int>(mine), std::span(both));
    request.wait();
    EXPECT_EQ(both, (std::vector<int>{left, right}));

    // Only upwards, by lists; blocks of different lengths.
    Neighbourhood up(comm, std::array{left}, std::array{right});
    const std::vector<int> own(static_cast<size_t>(me.rank + 1), me.rank);
    std::vector<int> of_left(static_cast<size_t>(left + 1));
    const std::array own_counts = {own.size()};
    const std::array left_counts = {of_left.size()};
    up.alltoallv(std::span<const int>(own), Blocks{own_counts, {}}, std::span(of_left), Blocks{left_counts, {}});
    EXPECT_EQ(of_left, std::vector<int>(of_left.size(), left));
    std::fill(of_left.begin(), of_left.end(), -1);
    up.allgatherv(std::span<const int>(own), std::span(of_left), Blocks{left_counts, {}});
    EXPECT_EQ(of_left, std::vector<int>(of_left.size(), left));

    Neighbourhood two = Neighbourhood::stencil(comm, std::array{4}, std::array{1}, std::array{2});
    ring = std::move(two);
    EXPECT_EQ(ring.destinations(), (std::vector<int>{(me.rank + 2) % 4}));
  });
}

TEST(CxxNeighbourhood, RefusesLengthsThatCanNotBe) {
  run_threads(2, [](Rank& me) {
    Context context;
    Comm comm(context, me.bootstrap);
    auto ring = Neighbourhood::grid(comm, std::array{2}, std::array{1});
    const std::vector<int> mine(3);
    std::vector<int> result(2);
    EXPECT_THROW(ring.alltoall(std::span<const int>(mine), std::span(result), 1), Error);
    EXPECT_THROW(ring.allgather(std::span<const int>(mine), std::span(result)), Error);
    const std::array<size_t, 2> counts = {1, 2};
    EXPECT_THROW(ring.allgatherv(std::span<const int>(mine), std::span(result), Blocks{counts, {}}), Error);
    EXPECT_THROW(Neighbourhood::grid(comm, std::array{2}, std::array{1, 1}), Error);
    EXPECT_THROW(Neighbourhood::grid(comm, std::array{3}, std::array{1}), Error);
    comm.barrier();
  });
}

}  // namespace
}  // namespace hocket::test
