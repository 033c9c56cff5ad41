// SPDX-License-Identifier: BSD-3-Clause
// Collectives with a block for each rank and scans, by every registered algorithm, on real ranks through the public
// API: blocks of one length and of different ones, in place, memory that peers map, operations that don't commute.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"
#include "support/exchange.h"
#include "support/team.h"

namespace hocket::test {
namespace {

using algorithms::Algorithm;
using schedule::Collective;

// Elements of 8 bytes in a block: none, one, odd, past a line, past a slot's row, several segments, several calls.
constexpr size_t kBlockCounts[] = {0, 1, 7, 300, 3000, 30'001};
constexpr size_t kLargeBlockCount = 300'001;

LengthOf equal_lengths(size_t count) {
  return [count](int, int) { return count; };
}
// Different ones, some of them nothing.
LengthOf different_lengths(size_t count) {
  return [count](int from, int to) {
    return (from + 2 * to) % 3 == 0 ? 0 : count * static_cast<size_t>(1 + (from + to) % 3);
  };
}

void check(Rank& me, const ExchangeCase& what, bool started) {
  Exchange exchange(what, {me.context, me.comm, me.rank, me.size});
  hocket_request_t* request = nullptr;
  ASSERT_EQ(exchange.run(started ? &request : nullptr), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(hocket_wait(&request), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(exchange.problem(), "");
}

void check_on_demand(Rank& me, ExchangeCase what, bool mapped) {
  if (me.size != 2 && me.size != 3 && me.size != 5) return;
  what.mapped = mapped;
  what.on_demand = true;
  check(me, what, false);
}

class Exchanges : public testing::TestWithParam<const Algorithm*> {};

void check_counts(Rank& me, Collective collective, bool ordered, hocket_op_t op) {
  const bool vary = schedule::is_vector(collective);
  for (const size_t count : kBlockCounts) {
    if (count > 10'000 && me.size > 4) continue;
    for (int root = 0; root < (schedule::has_root(collective) ? me.size : 1); root += me.size > 4 ? 3 : 1) {
      for (const bool in_place : {false, true}) {
        for (const bool mapped : {false, true}) {
          // Short blocks are copied wherever they lie.
          if (mapped && count < 100) continue;
          ExchangeCase what{
              collective, vary ? different_lengths(count) : equal_lengths(count), root, in_place, mapped, ordered, op};
          // In place, what comes lies where what goes has been: as long as it.
          if (in_place && collective == Collective::kAlltoallv) {
            what.length_of = [count](int from, int to) { return count * static_cast<size_t>((from + to) % 3); };
          }
          check(me, what, (count + static_cast<size_t>(root)) % 2 == 1);
          if (!in_place) check_on_demand(me, what, mapped);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Exchanges, EndWithWhatBelongsToEveryRank) {
  const Algorithm& algorithm = *GetParam();
  bool serves_several = false;
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    if (schedule::base_of(collective) != algorithm.collective) continue;
    const bool can = !schedule::is_vector(collective) ||
                     (algorithm.takes_vectors &&
                      (schedule::lengths_are_agreed(collective) || !algorithms::facts_of(algorithm).uses_slots));
    if (!can) continue;
    SCOPED_TRACE(std::string(name(collective)));
    for (const int size : kTeamSizes) {
      if (static_cast<uint32_t>(size) < algorithm.min_size || static_cast<uint32_t>(size) > algorithm.max_size)
        continue;
      if (!serves_team(algorithm, collective, size)) continue;
      serves_several |= size > 1;
      const bool ordered = algorithm.can_keep_order && serves_team(algorithm, collective, size, true);
      SCOPED_TRACE("ranks " + std::to_string(size));
      run_threads(size, [&](Rank& me) {
        // Rows that are too long for an algorithm that publishes them are left to the table.
        hocket_op_t op = nullptr;
        ASSERT_EQ(make_affine_op(ordered, op), HOCKET_OK);
        if (!algorithm.publishes_rows) {
          ASSERT_EQ(hocket_force(me.comm, std::string(name(collective)).c_str(), std::string(algorithm.name).c_str()),
                    HOCKET_OK)
              << hocket_error_text();
        }
        check_counts(me, collective, ordered, op);
        ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
      });
      if (HasFailure()) return;
    }
  }
  if (!serves_several) GTEST_SKIP() << "serves one rank only where ranks are so placed";
}

class LargeExchanges : public Exchanges {};

TEST_P(LargeExchanges, ServeLargeBlocks) {
  const Algorithm& algorithm = *GetParam();
  if (!serves_team(algorithm, algorithm.collective, 3)) GTEST_SKIP() << "does not serve ranks that are so placed";
  const bool ordered = algorithm.can_keep_order && serves_team(algorithm, algorithm.collective, 3, true);
  run_threads(3, [&](Rank& me) {
    hocket_op_t op = nullptr;
    ASSERT_EQ(make_affine_op(ordered, op), HOCKET_OK);
    ASSERT_EQ(
        hocket_force(me.comm, std::string(name(algorithm.collective)).c_str(), std::string(algorithm.name).c_str()),
        HOCKET_OK);
    for (const bool mapped : {false, true}) {
      check(me, {algorithm.collective, equal_lengths(kLargeBlockCount), 0, false, mapped, ordered, op}, false);
    }
    ASSERT_EQ(hocket_op_destroy(op), HOCKET_OK);
  });
}

struct Mismatch {
  size_t sent;
  size_t expected;
};

class WrongCounts : public testing::TestWithParam<Mismatch> {};

// Short messages, staged ones, and ones in several fragments; too long and too short.
INSTANTIATE_TEST_SUITE_P(Bytes, WrongCounts,
                         testing::Values(Mismatch{3, 5}, Mismatch{5, 3}, Mismatch{200, 100}, Mismatch{40, 300},
                                         Mismatch{90'000, 70'000}, Mismatch{70'000, 90'000}),
                         [](const auto& info) {
                           return std::to_string(info.param.sent) + "_for_" + std::to_string(info.param.expected);
                         });

TEST_P(WrongCounts, AreAnErrorOnAllRanksAndWriteNothingPastTheBuffer) {
  run_threads(2, [](Rank& me) {
    const auto [sent, expected] = GetParam();
    const std::vector<char> mine(sent, 'x');
    std::vector<char> all(expected + 64, '.');
    const size_t counts[] = {0, expected};
    const void* input = me.rank == 0 ? static_cast<const void*>(all.data()) : mine.data();
    const hocket_status_t status =
        hocket_gatherv(me.comm, input, me.rank == 0 ? 0 : sent, all.data(), counts, nullptr, HOCKET_BYTE, 0);
    if (me.rank == 0) {
      EXPECT_EQ(status, HOCKET_ERR_MISMATCH);
      const std::string text = hocket_error_text();
      // Of a message that is too long the wire between nodes says no more.
      const bool is_cut = has_several_nodes() && team_nodes(2)[0] != team_nodes(2)[1] && sent > expected;
      EXPECT_NE(text.find(is_cut ? "is longer than what is expected"
                                 : "rank 1 sends " + std::to_string(sent) + " bytes where rank 0 expects " +
                                       std::to_string(expected)),
                std::string::npos)
          << text;
      EXPECT_EQ(std::string(all.begin() + static_cast<std::ptrdiff_t>(expected), all.end()), std::string(64, '.'));
    }
    EXPECT_NE(hocket_barrier(me.comm), HOCKET_OK) << "the communicator is broken for everybody";
  });
}

TEST(Abort, EndsTheCallsOfAllRanks) {
  run_threads(3, [](Rank& me) {
    ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    if (me.rank == 2) {
      ASSERT_EQ(hocket_comm_abort(me.comm, "a test wants it"), HOCKET_OK);
      EXPECT_EQ(hocket_barrier(me.comm), HOCKET_ERR_BROKEN);
      EXPECT_NE(std::string(hocket_error_text()).find("a test wants it"), std::string::npos) << hocket_error_text();
    } else {
      EXPECT_EQ(hocket_barrier(me.comm), HOCKET_ERR_PEER_FAILED);
      EXPECT_NE(std::string(hocket_error_text()).find("rank 2"), std::string::npos) << hocket_error_text();
    }
  });
}

TEST(CheckedExchanges, PassWhereRanksAgreeAndNameTheTwoRanksWhoDont) {
  setenv("HOCKET_CHECK", "1", 1);
  run_threads(3, [](Rank& me) {
    for (const Collective collective : {Collective::kGatherv, Collective::kScatterv, Collective::kAllgatherv,
                                        Collective::kAlltoallv, Collective::kAlltoall}) {
      const bool vary = schedule::is_vector(collective);
      check(me, {collective, vary ? different_lengths(50) : equal_lengths(50), 1}, false);
    }
    const std::vector<int64_t> data(64);
    std::vector<int64_t> result(64);
    const size_t gives[] = {1, 2, me.rank == 1 ? size_t{7} : size_t{3}};
    const size_t gets[] = {static_cast<size_t>(me.rank + 1), static_cast<size_t>(me.rank + 1),
                           static_cast<size_t>(me.rank + 1)};
    EXPECT_EQ(hocket_alltoallv(me.comm, data.data(), gives, nullptr, result.data(), gets, nullptr, HOCKET_INT64),
              HOCKET_ERR_MISMATCH);
    const std::string text = hocket_error_text();
    EXPECT_NE(text.find("alltoallv: rank 1 has 56 bytes for rank 2, which expects 24"), std::string::npos) << text;
  });
  unsetenv("HOCKET_CHECK");
}

std::vector<const Algorithm*> algorithms_of_exchanges(bool large) {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms::all()) {
    // Rows of large blocks can't be published.
    const bool serves = algorithm->collective >= Collective::kGather && !(large && algorithm->publishes_rows);
    if (serves) found.push_back(algorithm);
  }
  return found;
}

std::string exchange_name(const testing::TestParamInfo<const Algorithm*>& info) {
  return std::string(name(info.param->collective)) + "_" + std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(Registered, Exchanges, testing::ValuesIn(algorithms_of_exchanges(false)), exchange_name);
INSTANTIATE_TEST_SUITE_P(Registered, LargeExchanges, testing::ValuesIn(algorithms_of_exchanges(true)), exchange_name);

}  // namespace
}  // namespace hocket::test
