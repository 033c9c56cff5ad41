// SPDX-License-Identifier: BSD-3-Clause
#include "core/communicator.h"

#include <gtest/gtest.h>

#include "core/endpoint.h"
#include "support/team.h"

namespace hocket::interposer {
namespace {

int refuse_to_gather(const void*, void*, size_t, void*) { return 1; }

Exchange exchange_of(const test::Rank& me) { return {me.bootstrap.allgather, me.bootstrap.user}; }

TEST(InterposedCommunicator, OfOneRankNeedsNothing) {
  Communicator& alone = *open_communicator(0, 1);
  EXPECT_EQ(prepare(alone, 1, true, {refuse_to_gather, nullptr}), Outcome::kSingleRank);
  forget_communicator(&alone);
}

TEST(InterposedCommunicator, IsSetUpAtItsCallInWhichAllRanksWait) {
  const int failed = test::run_bare_processes(2, [](test::Rank& me) {
    Communicator& one = *open_communicator(me.rank, me.size);
    EXPECT_EQ(prepare(one, 3, true, {refuse_to_gather, nullptr}), Outcome::kNotSetUp);
    EXPECT_FALSE(may_set_up_now(one, 3));
    EXPECT_EQ(prepare(one, 3, true, {refuse_to_gather, nullptr}), Outcome::kNotSetUp);
    EXPECT_TRUE(may_set_up_now(one, 3));
    EXPECT_EQ(prepare(one, 3, false, {refuse_to_gather, nullptr}), Outcome::kNotSetUp) << "not all wait in it";
    ASSERT_EQ(prepare(one, 3, true, exchange_of(me)), Outcome::kCarriedOut);
    EXPECT_EQ(one.phase, Phase::kReady);
    EXPECT_EQ(hocket_barrier(one.comm), HOCKET_OK);
    one.counters.add(Collective::kBarrier, Outcome::kCarriedOut);
    close_communicator(one);
    EXPECT_EQ(one.phase, Phase::kRefused);
    EXPECT_EQ(one.refusal, Outcome::kFreed);
    forget_communicator(&one);
    close_all([] {});
    EXPECT_EQ(read_counters()[counter_index(Collective::kBarrier, Outcome::kCarriedOut)], 1u) << "it is not forgotten";
    close_endpoint();
  });
  EXPECT_EQ(failed, 0);
}

TEST(InterposedCommunicator, IsTheMpisForGoodWhereRanksCannotAgree) {
  const int failed = test::run_bare_processes(2, [](test::Rank& me) {
    Communicator& one = *open_communicator(me.rank, me.size);
    EXPECT_EQ(prepare(one, 1, true, {refuse_to_gather, nullptr}), Outcome::kSetUpFailed);
    EXPECT_EQ(one.phase, Phase::kRefused);
    EXPECT_EQ(prepare(one, 1, true, exchange_of(me)), Outcome::kSetUpFailed);
    close_all([] {});
    close_endpoint();
  });
  EXPECT_EQ(failed, 0);
}

TEST(InterposedCommunicator, FailsEveryCallWhereAForcedChoiceCannotBeHonoured) {
  const int failed = test::run_bare_processes(2, [](test::Rank& me) {
    setenv("HOCKET_ALLREDUCE", "no_such_algorithm", 1);
    Communicator& one = *open_communicator(me.rank, me.size);
    EXPECT_EQ(prepare(one, 1, true, exchange_of(me)), Outcome::kFailed);
    EXPECT_EQ(prepare(one, 1, true, exchange_of(me)), Outcome::kFailed);
    EXPECT_TRUE(one.failure_reported);
    close_all([] {});
    close_endpoint();
  });
  EXPECT_EQ(failed, 0);
}

// A thread that uses the communicator beside calls that are pending holds its lock.
TEST(InterposedCommunicator, IsLockedBesidePendingCallsOnly) {
  Communicator one;
  {
    const BesidePending beside(one);
    EXPECT_TRUE(one.lock.try_lock());
    one.lock.unlock();
  }
  one.pending.store(1);
  {
    const BesidePending beside(one);
    EXPECT_FALSE(one.lock.try_lock());
  }
  EXPECT_TRUE(one.lock.try_lock());
}

}  // namespace
}  // namespace hocket::interposer
