// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/closing.h"

#include "communicator/pair.h"

namespace hocket::communicator {
namespace {

using ClosingOfTwo = Pair;

TEST_F(ClosingOfTwo, WaitsForBothAndLetsTheFirstGoLast) {
  EXPECT_FALSE(rank(0).closing->needs_barrier());
  rank(0).closing->begin(nullptr);
  EXPECT_FALSE(rank(0).closing->is_over());
  EXPECT_FALSE(rank(0).closing->is_over());
  rank(1).closing->begin(nullptr);
  EXPECT_FALSE(rank(0).closing->is_over()) << "the other may still look at the counter";
  EXPECT_TRUE(rank(1).closing->is_over());
  EXPECT_TRUE(rank(1).closing->is_quiet());
  EXPECT_TRUE(rank(0).closing->is_over());
  EXPECT_TRUE(rank(0).closing->is_quiet());
}

TEST_F(ClosingOfTwo, OfABrokenCommunicatorIsOverAtOnceAndNotQuiet) {
  (void)rank(0).failure->fail(Status(Code::kSystem, "broken"));
  rank(0).closing->begin(nullptr);
  EXPECT_TRUE(rank(0).closing->is_over());
  EXPECT_FALSE(rank(0).closing->is_quiet()) << "the peer may still use this rank's memory";
}

TEST_F(ClosingOfTwo, EndsWhereThePeerHasFailedMeanwhile) {
  rank(0).closing->begin(nullptr);
  (void)rank(1).failure->fail(Status(Code::kSystem, "broken"));
  EXPECT_TRUE(rank(0).closing->is_over());
  EXPECT_FALSE(rank(0).closing->is_quiet());
}

}  // namespace
}  // namespace hocket::communicator
