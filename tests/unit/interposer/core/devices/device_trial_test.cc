// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/device_trial.h"

#include <gtest/gtest.h>

#include "support/team.h"

namespace hocket::interposer {
namespace {

// The number of the first call that is the MPI's, of `calls`, of which every `every`th of rank 1 is staged; 0: none is.
int fails_at(hocket_comm_t* comm, bool stages, int every, int calls, bool all_wait = true) {
  DeviceTrial trial;
  for (int call = 1; call <= calls; ++call) {
    if (trial.has_failed(comm, all_wait)) return call;
    if (stages && call % every == 0) trial.note_staged();
  }
  return 0;
}

TEST(DeviceTrial, FailsAfterEightCallsOfWhichHalfAreStagedOnAnyRank) {
  test::run_threads(2, [](test::Rank& me) {
    EXPECT_EQ(fails_at(me.comm, me.rank == 1, 1, 20), 9);
    EXPECT_EQ(fails_at(me.comm, me.rank == 1, 2, 20), 9);
    EXPECT_EQ(fails_at(me.comm, me.rank == 1, 3, 100), 0);
    EXPECT_EQ(fails_at(me.comm, false, 1, 100), 0);
  });
}

// Ranks meet for it, so it waits for a call in which all of them do anyway.
TEST(DeviceTrial, AsksInCallsThatWaitForAllRanks) {
  test::run_threads(2, [](test::Rank& me) {
    EXPECT_EQ(fails_at(me.comm, true, 1, 100, false), 0);
    DeviceTrial trial;
    for (int call = 0; call < 30; ++call) {
      EXPECT_FALSE(trial.has_failed(me.comm, false));
      trial.note_staged();
    }
    EXPECT_TRUE(trial.has_failed(me.comm, true));
  });
}

// What was staged long ago has no part in it: each term counts for itself.
TEST(DeviceTrial, CountsEachTermAnew) {
  test::run_threads(2, [](test::Rank& me) {
    DeviceTrial trial;
    for (int call = 0; call < 3; ++call) {
      EXPECT_FALSE(trial.has_failed(me.comm, true));
      trial.note_staged();
    }
    for (int call = 3; call < 16; ++call) EXPECT_FALSE(trial.has_failed(me.comm, true)) << call;
    for (int call = 16; call < 20; ++call) {
      EXPECT_FALSE(trial.has_failed(me.comm, true)) << call;
      trial.note_staged();
    }
    for (int call = 20; call < 100; ++call) EXPECT_FALSE(trial.has_failed(me.comm, true)) << call;
  });
}

}  // namespace
}  // namespace hocket::interposer
