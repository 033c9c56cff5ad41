// SPDX-License-Identifier: BSD-3-Clause
// A process that becomes another program, and what it says where it can't.
#include <gtest/gtest.h>

#include <cerrno>

#include "supervision/cannot_run.h"
#include "supervision/exit_codes.h"

namespace hocket::supervision {
namespace {

TEST(Become, IsTheProgramWithAllItsWords) {
  EXPECT_EXIT(become({"sh", "-c", "exit $(($1 + $#))", "sh", "40", ""}), testing::ExitedWithCode(42), "");
}

TEST(Become, ReturnsWhyItCannot) {
  EXPECT_EQ(become({"/nowhere/program"}), ENOENT);
  EXPECT_EQ(become({"/"}), EACCES);
  EXPECT_EQ(cannot_run("/", become({"/"})).exit_code, kCannotRun);
}

}  // namespace
}  // namespace hocket::supervision
