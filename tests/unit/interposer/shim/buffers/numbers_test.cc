// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/numbers.h"

#include <gtest/gtest.h>

namespace hocket::interposer {
namespace {

TEST(Numbers, AreReadInTheWidthThatTheyHave) {
  const int narrow[] = {1, -2, 3};
  const long wide[] = {1, -2, 5'000'000'000};
  EXPECT_FALSE(Numbers(narrow).is_wide());
  EXPECT_TRUE(Numbers(wide).is_wide());
  EXPECT_EQ(Numbers(narrow)[1], -2);
  EXPECT_EQ(Numbers(narrow)[2], 3);
  EXPECT_EQ(Numbers(wide)[1], -2);
  EXPECT_EQ(Numbers(wide)[2], 5'000'000'000);
  EXPECT_EQ(Numbers(wide).address(), wide);
}

TEST(Numbers, MayBeMissing) {
  EXPECT_FALSE(Numbers().is_there());
  const int* const none = nullptr;
  EXPECT_FALSE(Numbers(none).is_there());
  const int one = 1;
  EXPECT_TRUE(Numbers(&one).is_there());
}

}  // namespace
}  // namespace hocket::interposer
