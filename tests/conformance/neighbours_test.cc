// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours, by every registered algorithm, on real ranks through the public API: lists with ranks
// that occur several times, grids, stencils; blocks of one length and of different ones; started among other calls.
#include <gtest/gtest.h>
#include <hocket/neighbourhoods.h>

#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "support/neighbours.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using algorithms::Algorithm;
using schedule::Collective;
using Kind = NeighbourhoodKind;
using Part = NeighbourhoodPart;

// What is asked for may not be able to serve a neighbourhood; then it says so on all ranks.
bool is_refused(hocket_status_t status) {
  return status == HOCKET_ERR_INVALID_ARGUMENT &&
         std::string(hocket_error_text()).find("can't be served by the forced") != std::string::npos;
}

std::vector<Collective> versions_of(Collective base) {
  std::vector<Collective> found;
  for (int i = schedule::kCollectives; i < schedule::kAllCollectives; ++i)
    if (schedule::base_of(static_cast<Collective>(i)) == base) found.push_back(static_cast<Collective>(i));
  return found;
}

class NeighborCollectives : public testing::TestWithParam<const Algorithm*> {};

INSTANTIATE_TEST_SUITE_P(Registered, NeighborCollectives,
                         testing::ValuesIn(algorithms::all_among_neighbors().begin(),
                                           algorithms::all_among_neighbors().end()),
                         [](const auto& info) {
                           return std::string(schedule::name(info.param->collective)) + "_" +
                                  std::string(info.param->name);
                         });

void check_all_counts(Rank& me, const Kind& kind, Collective collective, int& served) {
  Part part;
  hocket_neighbourhood_t* neighbourhood = kind.make(me, part);
  ASSERT_NE(neighbourhood, nullptr);
  for (const size_t count : {0, 1, 7, 300, 3000, 30'001}) {
    if (count > 10'000 && me.size > 4) continue;
    NeighborCall call(collective, part, me.rank, count);
    const hocket_status_t status = call.run(neighbourhood);
    if (is_refused(status)) continue;
    ASSERT_EQ(status, HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(call.problem(), "") << kind.name << ", count " << count;
    ++served;
    NeighborCall started(collective, part, me.rank, count);
    hocket_request_t* request = nullptr;
    ASSERT_EQ(started.start(neighbourhood, &request), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_wait(&request), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(started.problem(), "") << kind.name << ", count " << count << ", started";
  }
  ASSERT_EQ(hocket_neighbourhood_destroy(neighbourhood), HOCKET_OK);
}

TEST_P(NeighborCollectives, GetWhatBelongsToThem) {
  const Algorithm& algorithm = *GetParam();
  bool serves_some = false;
  for (const Collective collective : versions_of(algorithm.collective)) {
    SCOPED_TRACE(std::string(name(collective)));
    for (const int size : kTeamSizes) {
      SCOPED_TRACE("ranks " + std::to_string(size));
      run_threads(size, [&](Rank& me) {
        ASSERT_EQ(hocket_force(me.comm, std::string(name(collective)).c_str(), std::string(algorithm.name).c_str()),
                  HOCKET_OK)
            << hocket_error_text();
        int served = 0;
        for (const Kind& kind : neighbourhood_kinds()) {
          check_all_counts(me, kind, collective, served);
          if (testing::Test::HasFatalFailure()) return;
        }
        if (algorithm.why_not_among == nullptr && (!schedule::is_vector(collective) || algorithm.takes_vectors)) {
          EXPECT_GT(served, 0) << "every neighbourhood was refused";
        }
        if (me.rank == 0) serves_some |= served > 0;
      });
      if (HasFailure()) return;
    }
  }
  if (!serves_some) GTEST_SKIP() << "serves no neighbourhood where ranks are so placed";
}

TEST(NeighboursChosenByTheTable, AreServedWhateverTheyAre) {
  for (const int size : kTeamSizes) {
    run_threads(size, [&](Rank& me) {
      for (const Kind& kind : neighbourhood_kinds()) {
        for (int i = schedule::kCollectives; i < schedule::kAllCollectives; ++i) {
          int served = 0;
          check_all_counts(me, kind, static_cast<Collective>(i), served);
          if (testing::Test::HasFatalFailure()) return;
          EXPECT_GT(served, 0) << kind.name;
        }
      }
    });
    if (HasFailure()) return;
  }
}

TEST(NeighborAlltoallw, TakesATypeForEachBlock) {
  run_threads(4, [](Rank& me) {
    for (const Kind& kind : neighbourhood_kinds()) {
      Part part;
      hocket_neighbourhood_t* neighbourhood = kind.make(me, part);
      NeighborCall call(Collective::kNeighborAlltoallv, part, me.rank, 40);
      ASSERT_EQ(call.run_by_types(neighbourhood), HOCKET_OK) << hocket_error_text();
      EXPECT_EQ(call.problem(), "") << kind.name;
      ASSERT_EQ(hocket_neighbourhood_destroy(neighbourhood), HOCKET_OK);
    }
  });
}

// Several at a time, of two neighbourhoods, between started and blocking calls of the communicator; one neighbourhood
// goes while its call is under way.
TEST(NeighborCalls, GoBesideOthers) {
  run_threads(4, [](Rank& me) {
    const Kind ring_kind = ring_of_neighbours();
    const Kind odd_kind = odd_neighbours();
    for (int round = 0; round < 40; ++round) {
      Part ring_part, odd_part;
      hocket_neighbourhood_t* ring = ring_kind.make(me, ring_part);
      hocket_neighbourhood_t* odd = odd_kind.make(me, odd_part);
      const auto count = static_cast<size_t>(1 + round * 37 % 500);
      NeighborCall one(Collective::kNeighborAlltoall, ring_part, me.rank, count);
      NeighborCall two(Collective::kNeighborAlltoallv, odd_part, me.rank, count);
      NeighborCall three(Collective::kNeighborAllgatherv, odd_part, me.rank, count);
      NeighborCall four(Collective::kNeighborAllgather, ring_part, me.rank, count);
      int64_t mine = me.rank, sum = 0, later = 0;
      hocket_request_t* requests[4] = {};
      ASSERT_EQ(one.start(ring, &requests[0]), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(hocket_allreduce_start(me.comm, &mine, &later, 1, HOCKET_INT64, HOCKET_SUM, &requests[1]), HOCKET_OK);
      ASSERT_EQ(two.start(odd, &requests[2]), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(hocket_neighbourhood_destroy(odd == nullptr ? nullptr : ring), HOCKET_OK);
      ASSERT_EQ(hocket_allreduce(me.comm, &mine, &sum, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK);
      ASSERT_EQ(three.run(odd), HOCKET_OK) << hocket_error_text();
      ring = ring_kind.make(me, ring_part);
      ASSERT_EQ(four.start(ring, &requests[3]), HOCKET_OK) << hocket_error_text();
      for (const int i : {2, 0, 3, 1}) ASSERT_EQ(hocket_wait(&requests[i]), HOCKET_OK) << hocket_error_text();
      EXPECT_EQ(sum, 6);
      EXPECT_EQ(later, 6);
      for (const NeighborCall* call : {&one, &two, &three, &four}) EXPECT_EQ(call->problem(), "") << "round " << round;
      ASSERT_EQ(hocket_neighbourhood_destroy(ring), HOCKET_OK);
      ASSERT_EQ(hocket_neighbourhood_destroy(odd), HOCKET_OK);
    }
  });
}

// --- making them -----------------------------------------------------------------------------------------------------

TEST(Neighbourhoods, TellWhoTheNeighboursAre) {
  run_threads(4, [](Rank& me) {
    for (const Kind& kind : neighbourhood_kinds()) {
      Part part;
      hocket_neighbourhood_t* made = kind.make(me, part);
      int sources = -1, destinations = -1;
      ASSERT_EQ(hocket_neighbourhood_counts(made, &sources, &destinations), HOCKET_OK);
      ASSERT_EQ(static_cast<size_t>(sources), part.origins.size());
      ASSERT_EQ(static_cast<size_t>(destinations), part.destinations.size());
      std::vector<int> source_ranks(part.origins.size()), destination_ranks(part.destinations.size());
      ASSERT_EQ(hocket_neighbourhood_ranks(made, source_ranks.data(), destination_ranks.data()), HOCKET_OK);
      EXPECT_EQ(source_ranks, part.sources()) << kind.name;
      EXPECT_EQ(destination_ranks, part.destinations) << kind.name;
      ASSERT_EQ(hocket_neighbourhood_destroy(made), HOCKET_OK);
    }
  });
}

bool error_has(const std::string& part) { return std::string(hocket_error_text()).find(part) != std::string::npos; }

TEST(Neighbourhoods, ThatRanksDisagreeAboutAreAnErrorOnAllOfThemAndTheCommGoesOn) {
  run_threads(3, [](Rank& me) {
    hocket_neighbourhood_t* made = nullptr;
    const int next = (me.rank + 1) % 3;
    EXPECT_EQ(hocket_neighbourhood_create(me.comm, 0, nullptr, me.rank == 1 ? 1 : 0, &next, &made),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("blocks from rank 1 to rank 2: 1 by the destinations of the first, 0 by the sources"))
        << hocket_error_text();
    EXPECT_EQ(made, nullptr);
    const int far = 3;
    EXPECT_EQ(hocket_neighbourhood_create(me.comm, me.rank == 2 ? 1 : 0, &far, 0, nullptr, &made),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("source 0 of rank 2 is rank 3, and there are 3 ranks")) << hocket_error_text();
    EXPECT_EQ(hocket_neighbourhood_create(me.comm, me.rank == 2 ? -4 : 0, nullptr, 0, nullptr, &made),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has(me.rank == 2 ? "`sources` is -4" : "rank 2 has passed what can't be right"))
        << hocket_error_text();
    const int lengths[] = {3}, others[] = {me.rank == 0 ? 3 : 1, me.rank == 0 ? 1 : 3}, periodic[] = {1, 1};
    EXPECT_EQ(hocket_neighbourhood_create_grid(me.comm, 2, others, periodic, &made), HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(error_has("rank 0 and rank 1 pass different grids")) << hocket_error_text();
    EXPECT_EQ(me.rank == 1 ? hocket_neighbourhood_create(me.comm, 0, nullptr, 0, nullptr, &made)
                           : hocket_neighbourhood_create_grid(me.comm, 1, lengths, periodic, &made),
              HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(error_has("where rank 1 calls hocket_neighbourhood_create")) << hocket_error_text();
    const int short_lengths[] = {2};
    EXPECT_EQ(hocket_neighbourhood_create_grid(me.comm, 1, short_lengths, periodic, &made),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("the grid has 2 points, and there are 3 ranks")) << hocket_error_text();
    EXPECT_EQ(hocket_neighbourhood_create_grid(me.comm, 1, lengths, periodic, me.rank == 0 ? nullptr : &made),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(hocket_barrier(me.comm), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(hocket_neighbourhood_create(nullptr, 0, nullptr, 0, nullptr, &made), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbourhood_destroy(nullptr), HOCKET_OK);
  });
}

TEST(Neighbourhoods, MayOutliveTheirComm) {
  run_threads(3, [](Rank& me) {
    Rank other = me;
    ASSERT_EQ(hocket_comm_dup(me.comm, &other.comm), HOCKET_OK) << hocket_error_text();
    Part part;
    hocket_neighbourhood_t* made = ring_of_neighbours().make(other, part);
    NeighborCall call(Collective::kNeighborAllgather, part, me.rank, 3);
    ASSERT_EQ(call.run(made), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(call.problem(), "");
    ASSERT_EQ(hocket_comm_destroy(other.comm), HOCKET_OK) << hocket_error_text();
    int sources = 0;
    EXPECT_EQ(hocket_neighbourhood_counts(made, &sources, nullptr), HOCKET_OK);
    EXPECT_EQ(sources, 2);
    ASSERT_EQ(hocket_neighbourhood_destroy(made), HOCKET_OK);
  });
}

TEST(NeighborCalls, RefuseWhatCanNotBeRight) {
  run_threads(2, [](Rank& me) {
    Part part;
    hocket_neighbourhood_t* ring = ring_of_neighbours().make(me, part);
    int64_t data[4] = {}, result[4] = {};
    const size_t counts[] = {1, 1};
    EXPECT_EQ(hocket_neighbor_alltoall(nullptr, data, result, 1, HOCKET_INT64), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_alltoall(ring, HOCKET_IN_PLACE, result, 1, HOCKET_INT64), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("HOCKET_IN_PLACE")) << hocket_error_text();
    EXPECT_EQ(hocket_neighbor_alltoall(ring, data, data, 1, HOCKET_INT64), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_alltoall(ring, nullptr, result, 1, HOCKET_INT64), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_alltoall(ring, data, result, 1, 99), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_allgather(ring, data, result, SIZE_MAX / 12, HOCKET_INT64), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_alltoallv(ring, data, nullptr, nullptr, result, counts, nullptr, HOCKET_INT64),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("`input_counts` is NULL")) << hocket_error_text();
    EXPECT_EQ(hocket_neighbor_alltoallw(ring, data, counts, nullptr, nullptr, result, counts, nullptr, nullptr),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbor_alltoall_start(ring, data, result, 1, HOCKET_INT64, nullptr),
              HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_force(me.comm, "neighbor_alltoall", "ring"), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("there is no algorithm `ring` for neighbor_alltoall; there are: linear"))
        << hocket_error_text();
    EXPECT_EQ(hocket_neighbor_alltoall(ring, data, result, 1, HOCKET_INT64), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_neighbourhood_destroy(ring), HOCKET_OK);
  });
}

TEST(NeighborCalls, OfTwoNeighbourhoodsAtATimeAreAMismatch) {
  run_threads(2, [](Rank& me) {
    Part part;
    hocket_neighbourhood_t* one = ring_of_neighbours().make(me, part);
    hocket_neighbourhood_t* other = ring_of_neighbours().make(me, part);
    NeighborCall call(Collective::kNeighborAlltoall, part, me.rank, 5);
    hocket_status_t status = call.run(me.rank == 0 ? one : other);
    for (int i = 0; i < 3 && status == HOCKET_OK; ++i) status = hocket_barrier(me.comm);
    EXPECT_EQ(status, HOCKET_ERR_MISMATCH) << hocket_error_text();
    ASSERT_EQ(hocket_neighbourhood_destroy(one), HOCKET_OK);
    ASSERT_EQ(hocket_neighbourhood_destroy(other), HOCKET_OK);
  });
}

TEST(CheckedNeighborCalls, PassWhereRanksAgreeAndNameTheTwoRanksWhoDont) {
  setenv("HOCKET_CHECK", "1", 1);
  run_threads(4, [](Rank& me) {
    for (const Kind& kind : neighbourhood_kinds()) {
      for (int i = schedule::kCollectives; i < schedule::kAllCollectives; ++i) {
        int served = 0;
        check_all_counts(me, kind, static_cast<Collective>(i), served);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    Part part;
    hocket_neighbourhood_t* ring = ring_of_neighbours().make(me, part);
    int64_t data[4] = {}, result[4] = {};
    const size_t gives[] = {1, me.rank == 2 ? size_t{2} : size_t{1}}, gets[] = {1, 1};
    EXPECT_EQ(hocket_neighbor_alltoallv(ring, data, gives, nullptr, result, gets, nullptr, HOCKET_INT64),
              HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(error_has("neighbor_alltoallv: rank 2 has 16 bytes for rank 3, which expects 8"))
        << hocket_error_text();
    ASSERT_EQ(hocket_neighbourhood_destroy(ring), HOCKET_OK);
  });
  unsetenv("HOCKET_CHECK");
}

TEST(Neighbourhoods, ExplainWhatRuns) {
  run_threads(4, [](Rank& me) {
    Part part;
    hocket_neighbourhood_t* ring = ring_of_neighbours().make(me, part);
    char text[2000];
    ASSERT_EQ(hocket_neighbourhood_explain(ring, "MPI_Neighbor_alltoall", 64, text, sizeof text), HOCKET_OK)
        << hocket_error_text();
    EXPECT_NE(std::string(text).find("neighbor_alltoall of 64 bytes a block on 4 ranks"), std::string::npos) << text;
    EXPECT_NE(std::string(text).find("  predicted "), std::string::npos) << text;
    ASSERT_EQ(hocket_force(me.comm, "neighbor_alltoall", "linear"), HOCKET_OK);
    ASSERT_EQ(hocket_neighbourhood_explain(ring, "neighbor_alltoall", 64, text, sizeof text), HOCKET_OK);
    EXPECT_NE(std::string(text).find("because   it is forced"), std::string::npos) << text;
    EXPECT_EQ(hocket_neighbourhood_explain(ring, "alltoall", 64, text, sizeof text), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_neighbourhood_explain(ring, "neighbor_alltoall", 64, text, 5), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(hocket_explain(me.comm, "neighbor_alltoall", 64, text, sizeof text), HOCKET_ERR_INVALID_ARGUMENT);
    ASSERT_EQ(hocket_neighbourhood_destroy(ring), HOCKET_OK);
  });
}

}  // namespace
}  // namespace hocket::test
