// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/failure/failure.h"

#include <string>

#include "communicator/pair.h"

namespace hocket::communicator {
namespace {

using Failure = Pair;

TEST_F(Failure, OfOneRankIsEverybodys) {
  EXPECT_TRUE(rank(0).failure->find_failure().is_ok());
  const Status own = rank(1).failure->fail(Status(Code::kSystem, "the cable is cut"));
  EXPECT_EQ(own.code(), Code::kSystem);
  EXPECT_TRUE(rank(1).failure->is_broken());
  EXPECT_STREQ(rank(1).failure->broken().message(), "the cable is cut");
  const Status found = rank(0).failure->find_failure();
  EXPECT_EQ(found.code(), Code::kPeerFailed);
  EXPECT_EQ(std::string(found.message()).rfind("rank 1 has ended or failed", 0), 0u) << found.message();
  EXPECT_FALSE(rank(0).failure->is_broken()) << "that is for fail() to say";
}

TEST_F(Failure, TheFirstReportCounts) {
  (void)rank(0).failure->fail(Status(Code::kSystem, "first"));
  (void)rank(0).failure->fail(Status(Code::kSystem, "second"));
  EXPECT_STREQ(rank(0).failure->broken().message(), "first");
  EXPECT_EQ(rank(0).failure->broken().code(), Code::kBroken);
}

TEST_F(Failure, CallsThatDifferAreNamedInTheSameWordsOnBoth) {
  rank(0).announce(schedule::Collective::kBarrier);
  EXPECT_TRUE(rank(0).failure->find_trouble().is_ok()) << "the other may come yet";
  rank(1).announce(schedule::Collective::kAllreduce);
  Status first = rank(0).failure->find_trouble();
  ASSERT_EQ(first.code(), Code::kMismatch);
  first = rank(0).failure->fail(std::move(first));
  const Status second = rank(1).failure->find_failure();
  EXPECT_EQ(second.code(), Code::kMismatch);
  EXPECT_STREQ(second.message(), first.message());
  EXPECT_NE(std::string(first.message()).find("rank 0 calls barrier where rank 1 calls allreduce"), std::string::npos)
      << first.message();
}

TEST_F(Failure, LooksAreAsSeldomAsTheIntervalAndNeverTheFirst) {
  (void)rank(1).failure->fail(Status(Code::kSystem, "gone"));
  EXPECT_FALSE(rank(0).failure->look_now_and_then());
  EXPECT_FALSE(rank(0).failure->look_now_and_then()) << "the interval is not over";
  EXPECT_FALSE(rank(0).failure->is_broken());
}

}  // namespace
}  // namespace hocket::communicator
