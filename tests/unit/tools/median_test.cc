// SPDX-License-Identifier: BSD-3-Clause
#include "words/median.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace hocket {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInIt) {
  EXPECT_EQ(median_of(std::vector<double>{5, 1, 3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{8, 1, 100, 2}), 5);
  EXPECT_EQ(median_of(std::vector<uint64_t>{7, 2}), 4.5);
  EXPECT_EQ(median_of(std::vector<double>{}), 0);
}

}  // namespace
}  // namespace hocket
