// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/core_marks.h"

#include <gtest/gtest.h>

namespace hocket::platform {
namespace {

class Marks : public testing::Test {
 protected:
  CoreTable table_{};
  CoreMarks one_{table_, 0}, other_{table_, 1};
};

TEST_F(Marks, FindAPeerThatHasComeSince) {
  EXPECT_FALSE(one_.finds_peer_on(3));
  EXPECT_FALSE(one_.finds_peer_on(3));
  EXPECT_FALSE(other_.finds_peer_on(3)) << "the first may be gone";
  EXPECT_TRUE(one_.finds_peer_on(3));
  EXPECT_TRUE(other_.finds_peer_on(3));
  EXPECT_FALSE(other_.finds_peer_on(3)) << "nor has it come back";
}

TEST_F(Marks, MoveWithTheRankAndKeepLaterMarks) {
  one_.mark(3);
  EXPECT_TRUE(other_.has_peer_on(3));
  EXPECT_FALSE(one_.has_peer_on(3));
  one_.mark(4);
  EXPECT_FALSE(other_.has_peer_on(3));
  EXPECT_TRUE(other_.has_peer_on(4));
  other_.mark(4);
  one_.mark(-1);
  EXPECT_TRUE(one_.has_peer_on(4)) << "the other's stays";
}

TEST_F(Marks, IgnoreUnknownCoresAndShareEntries) {
  EXPECT_FALSE(one_.finds_peer_on(-1));
  one_.mark(static_cast<int>(CoreTable::kCores) + 3);
  EXPECT_TRUE(other_.has_peer_on(3)) << "an entry of several cores";
}

}  // namespace
}  // namespace hocket::platform
