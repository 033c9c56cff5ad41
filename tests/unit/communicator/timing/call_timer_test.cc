// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/timing/call_timer.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "c_api/internal/timing/call_times.h"
#include "communicator/ranks.h"

namespace hocket::communicator {
namespace {

class TimedCalls : public testing::Test {
 protected:
  TimedCalls() { c_api::time_calls(true); }
  ~TimedCalls() override { c_api::time_calls(false); }
};

// All have come to a barrier before any of them leaves it, so each sees who was the last.
TEST_F(TimedCalls, TheRankThatCameLastIsKnownToAllOfItsNode) {
  constexpr uint32_t kRanks = 3, kCalls = 60;
  test::Network network(kRanks, 1);
  std::array<std::array<CallTimes, kCalls>, kRanks> all;
  run_ranks({.ranks = kRanks, .ranks_a_node = kRanks}, network, [&](uint32_t rank, auto communicator) {
    ASSERT_TRUE(communicator.is_ok()) << communicator.status().message();
    for (uint32_t call = 0; call < kCalls; ++call) {
      // By turns each has something to do first.
      for (uint64_t since_ns = now_ns(); call % kRanks == rank && now_ns() - since_ns < 200'000;) sched_yield();
      CallTimes& times = all[rank][call];
      ASSERT_TRUE(communicator.value()->run(Arguments()).is_ok());
      ASSERT_TRUE(c_api::take_last_call(times));
      EXPECT_EQ(times.rank, rank);
      EXPECT_EQ(times.collective, schedule::Collective::kBarrier);
      EXPECT_NE(std::string_view(times.algorithm), "");
      EXPECT_LE(times.waited_for_late_ns, times.idle_ns);
      EXPECT_LE(times.idle_ns, times.ended_ns - times.began_ns);
      EXPECT_FALSE(take_last_call(times)) << "it has been taken";
    }
    EXPECT_TRUE(communicator.value()->close().is_ok());
  });
  uint32_t waited = 0;
  for (uint32_t call = 0; call < kCalls; ++call) {
    uint64_t last_ns = 0;
    for (const auto& rank : all) last_ns = std::max(last_ns, rank[call].began_ns);
    for (const auto& rank : all) {
      EXPECT_EQ(rank[call].last_came_ns, last_ns);
      EXPECT_EQ(all.at(rank[call].last_rank)[call].began_ns, last_ns);
      EXPECT_TRUE(rank[call].last_rank != rank[call].rank || rank[call].waited_for_late_ns == 0);
      waited += rank[call].has_waited() ? 1 : 0;
    }
  }
  EXPECT_NE(waited, 0u);
}

TEST_F(TimedCalls, CallsAreNumberedAlikeBeyondTheirRecords) {
  test::Network network(2, 1);
  run_ranks({.ranks = 2, .ranks_a_node = 2}, network, [&](uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.is_ok()) << communicator.status().message();
    CallTimes times;
    uint64_t ended_ns = 0;
    for (uint64_t number = 1; number <= 3 * engines::shared_memory::kSets; ++number) {
      ASSERT_TRUE(communicator.value()->run(Arguments()).is_ok());
      ASSERT_TRUE(c_api::take_last_call(times));
      EXPECT_EQ(times.number, number);
      EXPECT_LT(times.last_rank, 2u);
      EXPECT_GE(times.began_ns, ended_ns);
      ended_ns = times.ended_ns;
    }
    EXPECT_TRUE(communicator.value()->close().is_ok());
  });
}

// Their clocks can't be read.
TEST_F(TimedCalls, RanksOfOtherNodesAreNotLookedAt) {
  test::Network network(2, 1);
  run_ranks({.ranks = 2, .ranks_a_node = 1}, network, [&](uint32_t rank, auto communicator) {
    ASSERT_TRUE(communicator.is_ok()) << communicator.status().message();
    CallTimes times;
    for (int call = 0; call < 10; ++call) {
      ASSERT_TRUE(communicator.value()->run(Arguments()).is_ok());
      ASSERT_TRUE(c_api::take_last_call(times));
      EXPECT_EQ(times.last_rank, rank);
      EXPECT_FALSE(times.has_waited());
    }
    EXPECT_TRUE(communicator.value()->close().is_ok());
  });
}

TEST(UntimedCalls, LeaveNothingToTake) {
  ASSERT_FALSE(calls_are_timed());
  test::Network network(2, 1);
  run_ranks({.ranks = 2, .ranks_a_node = 2}, network, [&](uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.is_ok()) << communicator.status().message();
    CallTimes times;
    ASSERT_TRUE(communicator.value()->run(Arguments()).is_ok());
    EXPECT_FALSE(take_last_call(times));
    EXPECT_TRUE(communicator.value()->close().is_ok());
  });
}

// A rank whose place in the row has a later call by now came in time.
TEST(Arrivals, OfAnotherCallInTheSamePlaceAreNotTaken) {
  using engines::shared_memory::Arrival;
  Arrival arrival{};
  EXPECT_EQ(arrival.read(0), 0u);
  arrival.write(3, 1'000'001);
  EXPECT_EQ(arrival.read(3), 1'000'001u);
  EXPECT_EQ(arrival.read(2), 0u);
  EXPECT_EQ(arrival.read(4), 0u);
}

}  // namespace
}  // namespace hocket::communicator
