// SPDX-License-Identifier: BSD-3-Clause
#include "base/assertion.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

#ifdef HOCKET_ASSERTIONS

TEST(AssertionDeathTest, SaysWhereAndWhatAndAborts) {
  const int sets = 17;
  HOCKET_ASSERT(sets == 17, "this holds");
  EXPECT_EXIT(HOCKET_ASSERT(sets == 16, "a lane has sixteen sets"), testing::KilledBySignal(SIGABRT),
              "assertion_test\\.cc:[0-9]+: sets == 16: a lane has sixteen sets\n");
}

#else

TEST(Assertion, IsCompiledToNothing) {
  int evaluated = 0;
  HOCKET_ASSERT(++evaluated == 0, "this is not looked at");
  EXPECT_EQ(evaluated, 0);
}

#endif

}  // namespace
}  // namespace hocket
