// SPDX-License-Identifier: BSD-3-Clause
// Calls that are planned once and started again and again: every collective with operands that change from one start to
// the next, several at a time in orders that change, and what a request may not be used for.
#include <gtest/gtest.h>
#include <hocket/persistent.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/exchange.h"
#include "support/neighbours.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using schedule::Collective;

constexpr int kStarts = 5;
constexpr hocket_type_t kAffine = HOCKET_TYPE_OPAQUE(sizeof(Affine));

bool error_says(const std::string& part) { return std::string(hocket_error_text()).find(part) != std::string::npos; }

// --- with a block for each rank --------------------------------------------------------------------------------------

class PersistentExchanges : public testing::TestWithParam<Collective> {};

void start_with_new_elements(const Rank& me, const ExchangeCase& what) {
  Exchange exchange(what, {me.context, me.comm, me.rank, me.size});
  hocket_request_t* request = nullptr;
  ASSERT_EQ(exchange.plan(&request), HOCKET_OK) << hocket_error_text();
  for (uint32_t salt = 0; salt < kStarts; ++salt) {
    exchange.renew(salt * 77);
    ASSERT_EQ(hocket_start(request), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_wait(&request), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(exchange.problem(), "") << "start " << salt;
  }
  ASSERT_EQ(hocket_request_free(&request), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(request, nullptr);
}

void start_for_all_counts(const Rank& me, Collective collective, hocket_op_t op) {
  const bool varies = schedule::is_vector(collective);
  for (const size_t count : {0, 1, 7, 3000}) {
    for (int root = 0; root < (schedule::has_root(collective) ? me.size : 1); root += me.size > 4 ? 3 : 1) {
      for (const bool in_place : {false, true}) {
        ExchangeCase what{collective, [count](int, int) { return count; }, root, in_place, root % 2 == 1, true, op};
        if (varies)
          what.length_of = [count](int from, int to) { return count * static_cast<size_t>((from + 2 * to) % 3); };
        // In place, what comes is as long as what has been there.
        if (collective == Collective::kAlltoallv && in_place)
          what.length_of = [count](int from, int to) { return count * static_cast<size_t>((from + to) % 3); };
        start_with_new_elements(me, what);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(PersistentExchanges, GiveTheResultOfEachStart) {
  for (const int size : kTeamSizes) {
    SCOPED_TRACE("ranks " + std::to_string(size));
    run_threads(size, [](Rank& me) {
      hocket_op_t op = nullptr;
      ASSERT_EQ(make_affine_op(true, op), HOCKET_OK);
      start_for_all_counts(me, GetParam(), op);
      ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
    });
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PersistentExchanges,
                         testing::Values(Collective::kGather, Collective::kScatter, Collective::kAllgather,
                                         Collective::kAlltoall, Collective::kReduceScatterBlock, Collective::kScan,
                                         Collective::kExscan, Collective::kGatherv, Collective::kScatterv,
                                         Collective::kAllgatherv, Collective::kAlltoallv, Collective::kReduceScatter),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(PersistentAlltoallw, TakesATypeForEachBlock) {
  run_threads(3, [](Rank& me) {
    std::vector<int64_t> gives(6), gets(6);
    hocket_request_t* request = nullptr;
    {
      // Two numbers for each rank, as numbers or as bytes; gone before the first start.
      const std::vector<size_t> numbers = {2, 2, 2}, bytes = {16, 16, 16}, begins = {0, 16, 32};
      const std::vector<hocket_type_t> of_numbers(3, HOCKET_INT64), of_bytes(3, HOCKET_BYTE);
      ASSERT_EQ(hocket_alltoallw_init(me.comm, gives.data(), numbers.data(), begins.data(), of_numbers.data(),
                                      gets.data(), bytes.data(), begins.data(), of_bytes.data(), &request),
                HOCKET_OK)
          << hocket_error_text();
    }
    for (int start = 0; start < kStarts; ++start) {
      std::iota(gives.begin(), gives.end(), 100 * me.rank + start);
      ASSERT_EQ(hocket_start(request), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(hocket_wait(&request), HOCKET_OK) << hocket_error_text();
      for (int from = 0; from < 3; ++from)
        EXPECT_EQ(gets[static_cast<size_t>(2 * from + 1)], 100 * from + start + 2 * me.rank + 1);
    }
    ASSERT_EQ(hocket_request_free(&request), HOCKET_OK);
  });
}

// --- without one -----------------------------------------------------------------------------------------------------

Affine operand(int rank, size_t index, uint32_t salt) {
  return {static_cast<uint32_t>(2 * rank + 3), static_cast<uint32_t>(index) + salt + static_cast<uint32_t>(rank)};
}
Affines operands(int rank, size_t count, uint32_t salt) {
  Affines made(count);
  for (size_t i = 0; i < count; ++i) made[i] = operand(rank, i, salt);
  return made;
}
// In the order of ranks, which makes a difference.
Affines composition(int size, size_t count, uint32_t salt) {
  Affines made = operands(0, count, salt);
  for (int rank = 1; rank < size; ++rank) {
    for (size_t i = 0; i < count; ++i) {
      const Affine right = operand(rank, i, salt);
      made[i] = {made[i].a * right.a, made[i].a * right.b + made[i].b};
    }
  }
  return made;
}

// Where the request knows it.
void put(const Affines& elements, Affines& where) { std::copy(elements.begin(), elements.end(), where.begin()); }

void start_reductions(const Rank& me, size_t count, bool in_place, int root, hocket_op_t op) {
  const bool at_root = me.rank == root;
  Affines data(count), part(count), mine(count), all(count), sum(count);
  hocket_request_t* calls[4] = {};
  ASSERT_EQ(hocket_barrier_init(me.comm, &calls[0]), HOCKET_OK);
  ASSERT_EQ(hocket_broadcast_init(me.comm, data.data(), count, kAffine, root, &calls[1]), HOCKET_OK);
  ASSERT_EQ(hocket_reduce_init(me.comm, in_place && at_root ? HOCKET_IN_PLACE : part.data(),
                               in_place ? part.data() : sum.data(), count, kAffine, op, root, &calls[2]),
            HOCKET_OK);
  ASSERT_EQ(hocket_allreduce_init(me.comm, in_place ? HOCKET_IN_PLACE : mine.data(), all.data(), count, kAffine, op,
                                  &calls[3]),
            HOCKET_OK);
  for (uint32_t salt = 0; salt < kStarts; ++salt) {
    put(at_root ? operands(root, count, salt) : Affines(count), data);
    put(operands(me.rank, count, salt), part);
    put(operands(me.rank, count, salt + 1), in_place ? all : mine);
    ASSERT_EQ(hocket_start_all(4, calls), HOCKET_OK) << hocket_error_text();
    for (hocket_request_t*& call : calls) ASSERT_EQ(hocket_wait(&call), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(data, operands(root, count, salt));
    EXPECT_EQ(in_place && at_root ? part : operands(me.rank, count, salt),
              in_place && at_root ? composition(me.size, count, salt) : part);
    if (at_root && !in_place) {
      EXPECT_EQ(sum, composition(me.size, count, salt));
    }
    EXPECT_EQ(all, composition(me.size, count, salt + 1));
  }
  for (hocket_request_t*& call : calls) ASSERT_EQ(hocket_request_free(&call), HOCKET_OK) << hocket_error_text();
}

TEST(PersistentReductions, GiveTheResultOfEachStartInTheOrderOfRanks) {
  for (const int size : kTeamSizes) {
    SCOPED_TRACE("ranks " + std::to_string(size));
    run_threads(size, [](Rank& me) {
      hocket_op_t op = nullptr;
      ASSERT_EQ(make_affine_op(true, op), HOCKET_OK);
      for (const size_t count : {size_t{0}, size_t{1}, size_t{513}, size_t{30'001}}) {
        for (int root = 0; root < me.size; root += me.size > 4 ? 3 : 1) {
          SCOPED_TRACE("count " + std::to_string(count) + ", root " + std::to_string(root));
          for (const bool in_place : {false, true}) start_reductions(me, count, in_place, root, op);
          if (testing::Test::HasFailure()) return;
        }
      }
      ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
    });
    if (HasFailure()) return;
  }
}

TEST(PersistentReductions, GoOnBetweenProcesses) {
  EXPECT_EQ(run_processes(3,
                          [](Rank& me) {
                            hocket_op_t op = nullptr;
                            ASSERT_EQ(make_affine_op(true, op), HOCKET_OK);
                            for (const size_t count : {size_t{1}, size_t{200'001}})
                              start_reductions(me, count, false, 1, op);
                            ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
                          }),
            0);
}

// --- among neighbours ------------------------------------------------------------------------------------------------

TEST(PersistentNeighbours, GetWhatBelongsToThemAndMayLoseTheirNeighbourhood) {
  for (const int size : {1, 3, 4, 5}) {
    run_threads(size, [](Rank& me) {
      for (const NeighbourhoodKind& kind : neighbourhood_kinds()) {
        for (int i = schedule::kCollectives; i <= schedule::kAllCollectives; ++i) {
          const bool by_types = i == schedule::kAllCollectives;
          NeighbourhoodPart part;
          hocket_neighbourhood_t* neighbourhood = kind.make(me, part);
          NeighborCall call(by_types ? Collective::kNeighborAlltoallv : static_cast<Collective>(i), part, me.rank, 40);
          hocket_request_t* request = nullptr;
          ASSERT_EQ(by_types ? call.plan_by_types(neighbourhood, &request) : call.plan(neighbourhood, &request),
                    HOCKET_OK)
              << hocket_error_text();
          ASSERT_EQ(hocket_neighbourhood_destroy(neighbourhood), HOCKET_OK);
          for (int start = 0; start < kStarts; ++start) {
            call.renew(start * 10'007);
            ASSERT_EQ(hocket_start(request), HOCKET_OK) << hocket_error_text();
            ASSERT_EQ(hocket_wait(&request), HOCKET_OK) << hocket_error_text();
            ASSERT_EQ(call.problem(), "") << kind.name << ", start " << start;
          }
          ASSERT_EQ(hocket_request_free(&request), HOCKET_OK);
        }
      }
    });
    if (HasFailure()) return;
  }
}

// --- several at a time -----------------------------------------------------------------------------------------------

// A sum with its own operand, so that a call that has met another one's shows.
struct Sum {
  int64_t mine = 0;
  int64_t all = 0;
  hocket_request_t* request = nullptr;
};

// All ranks start in one order, a new one in each round, between other calls; each waits in an order of its own.
TEST(PersistentCalls, GoBesideOthersInOrdersThatChange) {
  constexpr int kCalls = 12;
  for (const int size : {1, 2, 3, 5}) {
    run_threads(size, [](Rank& me) {
      std::vector<Sum> sums(kCalls);
      for (Sum& sum : sums)
        ASSERT_EQ(hocket_allreduce_init(me.comm, &sum.mine, &sum.all, 1, HOCKET_INT64, HOCKET_SUM, &sum.request),
                  HOCKET_OK);
      std::vector<int> order(kCalls);
      std::iota(order.begin(), order.end(), 0);
      std::mt19937 shared(1), own(static_cast<uint32_t>(me.rank + 2));
      for (int round = 0; round < 60; ++round) {
        std::shuffle(order.begin(), order.end(), shared);
        const size_t started = 1 + shared() % kCalls;
        int64_t one = 1, ones = 0, later = 0;
        hocket_request_t* other = nullptr;
        for (size_t k = 0; k < started; ++k) {
          Sum& sum = sums[static_cast<size_t>(order[k])];
          sum.mine = 1000 * round + 10 * order[k] + me.rank;
          ASSERT_EQ(hocket_start(sum.request), HOCKET_OK) << hocket_error_text();
          if (k == started / 2) {
            ASSERT_EQ(hocket_allreduce_start(me.comm, &one, &later, 1, HOCKET_INT64, HOCKET_SUM, &other), HOCKET_OK);
          }
        }
        ASSERT_EQ(hocket_allreduce(me.comm, &one, &ones, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK);
        EXPECT_EQ(ones, me.size);
        std::vector<int> waits(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(started));
        std::shuffle(waits.begin(), waits.end(), own);
        for (const int i : waits) {
          Sum& sum = sums[static_cast<size_t>(i)];
          hocket_status_t status = HOCKET_IN_PROGRESS;
          while (i % 3 == 0 && status == HOCKET_IN_PROGRESS) status = hocket_test(&sum.request);
          ASSERT_EQ(i % 3 == 0 ? status : hocket_wait(&sum.request), HOCKET_OK) << hocket_error_text();
          const int ranks = me.size * (me.size - 1) / 2;
          ASSERT_EQ(sum.all, me.size * (1000 * round + 10 * i) + ranks) << "round " << round << ", call " << i;
        }
        ASSERT_EQ(hocket_wait(&other), HOCKET_OK) << hocket_error_text();
        EXPECT_EQ(later, me.size);
      }
      for (Sum& sum : sums) ASSERT_EQ(hocket_request_free(&sum.request), HOCKET_OK);
    });
    if (HasFailure()) return;
  }
}

TEST(PersistentCalls, MayBeAsManyAsOneLikes) {
  run_threads(2, [](Rank& me) {
    std::vector<Sum> sums(2000);
    std::vector<hocket_request_t*> requests;
    for (Sum& sum : sums) {
      sum.mine = static_cast<int64_t>(requests.size()) + me.rank;
      ASSERT_EQ(hocket_allreduce_init(me.comm, &sum.mine, &sum.all, 1, HOCKET_INT64, HOCKET_SUM, &sum.request),
                HOCKET_OK);
      requests.push_back(sum.request);
    }
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(hocket_start_all(requests.size(), requests.data()), HOCKET_OK) << hocket_error_text();
      for (size_t i = 0; i < sums.size(); ++i) {
        ASSERT_EQ(hocket_wait(&requests[i]), HOCKET_OK) << hocket_error_text();
        ASSERT_EQ(sums[i].all, static_cast<int64_t>(2 * i + 1));
      }
    }
    for (hocket_request_t*& request : requests) ASSERT_EQ(hocket_request_free(&request), HOCKET_OK);
  });
}

// Of calls by another algorithm those that follow are planned; those that are planned already give the result all the
// same.
TEST(PersistentCalls, OutliveAForcedAlgorithm) {
  run_threads(3, [](Rank& me) {
    Sum before, after;
    for (Sum* sum : {&before, &after}) {
      ASSERT_EQ(hocket_allreduce_init(me.comm, &sum->mine, &sum->all, 1, HOCKET_INT64, HOCKET_SUM, &sum->request),
                HOCKET_OK);
      ASSERT_EQ(hocket_force(me.comm, "allreduce", sum == &before ? "ring" : nullptr), HOCKET_OK)
          << hocket_error_text();
    }
    for (int start = 0; start < kStarts; ++start) {
      for (Sum* sum : {&before, &after}) {
        sum->mine = me.rank + start;
        ASSERT_EQ(hocket_start(sum->request), HOCKET_OK) << hocket_error_text();
      }
      for (Sum* sum : {&after, &before}) {
        ASSERT_EQ(hocket_wait(&sum->request), HOCKET_OK) << hocket_error_text();
        EXPECT_EQ(sum->all, 3 + 3 * start);
      }
    }
    for (Sum* sum : {&before, &after}) ASSERT_EQ(hocket_request_free(&sum->request), HOCKET_OK);
  });
}

TEST(CheckedPersistentCalls, PassWhereRanksAgreeAndAreAMismatchAtTheStartThatDiffers) {
  setenv("HOCKET_CHECK", "1", 1);
  run_threads(3, [](Rank& me) {
    for (const Collective collective : {Collective::kGatherv, Collective::kAlltoallv, Collective::kReduceScatter}) {
      hocket_op_t op = nullptr;
      ASSERT_EQ(make_affine_op(true, op), HOCKET_OK);
      start_for_all_counts(me, collective, op);
      ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
      if (testing::Test::HasFatalFailure()) return;
    }
    NeighbourhoodPart part;
    hocket_neighbourhood_t* ring = ring_of_neighbours().make(me, part);
    NeighborCall call(Collective::kNeighborAlltoallv, part, me.rank, 5);
    hocket_request_t *halo = nullptr, *requests[2] = {};
    ASSERT_EQ(call.plan(ring, &halo), HOCKET_OK);
    ASSERT_EQ(hocket_neighbourhood_destroy(ring), HOCKET_OK);
    ASSERT_EQ(hocket_start(halo), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_wait(&halo), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(call.problem(), "");
    ASSERT_EQ(hocket_request_free(&halo), HOCKET_OK);
    int64_t one = 1, sum = 0, values[2] = {};
    ASSERT_EQ(hocket_allreduce_init(me.comm, &one, &sum, 1, HOCKET_INT64, HOCKET_SUM, &requests[0]), HOCKET_OK);
    ASSERT_EQ(hocket_broadcast_init(me.comm, values, 2, HOCKET_INT64, 0, &requests[1]), HOCKET_OK);
    EXPECT_EQ(hocket_start(requests[me.rank == 2 ? 1 : 0]), HOCKET_ERR_MISMATCH);
    EXPECT_TRUE(error_says("rank 0 calls allreduce")) << hocket_error_text();
    for (hocket_request_t*& request : requests) EXPECT_EQ(hocket_request_free(&request), HOCKET_OK);
  });
  unsetenv("HOCKET_CHECK");
}

}  // namespace
}  // namespace hocket::test
