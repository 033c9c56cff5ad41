// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace hocket {
namespace {

TEST(Status, IsOkAndSilentByDefault) {
  const Status status;
  EXPECT_TRUE(status.is_ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_STREQ(status.message(), "");
}

TEST(Status, OfASystemCallEndsWithTheTextOfItsError) {
  const Status status = Status::system("open of /nowhere", ENOENT);
  EXPECT_EQ(status.code(), Code::kSystem);
  EXPECT_STREQ(status.message(), "open of /nowhere: No such file or directory");
}

TEST(Status, TryLeavesWithTheFirstFailure) {
  int reached = 0;
  const auto run = [&]() -> Status {
    HOCKET_TRY(Status::ok());
    ++reached;
    HOCKET_TRY(Status(Code::kTimeout, "late"));
    ++reached;
    return Status::ok();
  };
  const Status status = run();
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_STREQ(status.message(), "late");
  EXPECT_EQ(reached, 1);
}

TEST(Result, HoldsEitherAValueOrAStatus) {
  Result<std::string> value = std::string("seven");
  ASSERT_TRUE(value.is_ok());
  EXPECT_EQ(value.take(), "seven");
  Result<std::string> failure = Status(Code::kNoMemory, "none left");
  ASSERT_FALSE(failure.is_ok());
  EXPECT_EQ(failure.status().code(), Code::kNoMemory);
  EXPECT_STREQ(failure.take_status().message(), "none left");
}

}  // namespace
}  // namespace hocket
