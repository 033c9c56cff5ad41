// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/late.h"

#include <string>

#include "base/clock.h"
#include "communicator/pair.h"

namespace hocket::communicator {
namespace {

class Late : public Pair {
 protected:
  LateFinder finder_of(uint32_t which) {
    return {rank(which).participants, *rank(which).tracks, Vocabulary::kHocket, {.after_ns = kSecondNs}};
  }
  static constexpr int64_t kSecondNs = kNanosecondsPerSecond, kWaitedNs = 12 * kSecondNs;
};

TEST_F(Late, RanksAreNamedOnceByOneOfThoseThatWait) {
  rank(0).announce(schedule::Collective::kAllgather);
  const std::string said = finder_of(0).find(kWaitedNs);
  EXPECT_EQ(said,
            "allgather(8 bytes) of a communicator of 2 ranks: rank 0 has waited for 12 s, and goes on waiting, for "
            "rank 1");
  EXPECT_EQ(finder_of(0).find(2 * kWaitedNs), "") << "it has been said";
  EXPECT_EQ(finder_of(1).find(kWaitedNs), "") << "rank 1 is in no call";
}

TEST_F(Late, NobodyIsNamedWhoHasCome) {
  rank(0).announce(schedule::Collective::kBarrier);
  rank(1).announce(schedule::Collective::kBarrier);
  EXPECT_EQ(finder_of(0).find(kWaitedNs), "");
  EXPECT_EQ(finder_of(1).find(kWaitedNs), "");
}

TEST_F(Late, TheNextCallIsToldOfAnew) {
  rank(0).announce(schedule::Collective::kBarrier);
  EXPECT_NE(finder_of(0).find(kWaitedNs), "");
  rank(1).announce(schedule::Collective::kBarrier);
  rank(1).announce(schedule::Collective::kBarrier);
  EXPECT_NE(finder_of(1).find(kWaitedNs).find("for rank 0"), std::string::npos);
}

// Of calls that are started a rank may wait for any.
TEST_F(Late, NobodyIsNamedWhereAllHaveComeToOneOfTheStartedCalls) {
  for (uint32_t which = 0; which < 2; ++which)
    for (uint32_t track = 1; track < 3; ++track) ASSERT_TRUE(rank(which).tracks->open(track).is_ok());
  rank(0).announce(schedule::Collective::kBarrier, 2);
  rank(1).announce(schedule::Collective::kBarrier, 2);
  rank(0).announce(schedule::Collective::kAllgather, 1);
  EXPECT_EQ(finder_of(0).find(kWaitedNs), "");
  rank(0).announce(schedule::Collective::kAllgather, 2);
  EXPECT_NE(finder_of(0).find(kWaitedNs).find("for rank 1"), std::string::npos) << "missing in both";
}

TEST_F(Late, WhereCallsEndNobodyGoesOnWaiting) {
  rank(0).announce(schedule::Collective::kBarrier);
  const LateFinder ending(rank(0).participants, *rank(0).tracks, Vocabulary::kHocket,
                          {.after_ns = kSecondNs, .ends_calls = true});
  EXPECT_EQ(ending.find(kWaitedNs), "barrier of a communicator of 2 ranks: rank 0 has waited for 12 s for rank 1");
}

TEST_F(Late, NothingIsSaidTooEarlyOrWhereNobodyWantsIt) {
  EXPECT_FALSE(finder_of(0).is_due(kSecondNs - 1));
  EXPECT_TRUE(finder_of(0).is_due(kSecondNs));
  const LateFinder silent(rank(0).participants, *rank(0).tracks, Vocabulary::kHocket, {});
  EXPECT_FALSE(silent.is_due(INT64_MAX));
}

}  // namespace
}  // namespace hocket::communicator
