// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/unread.h"

#include <gtest/gtest.h>

namespace hocket::simulation {
namespace {

using schedule::Buffer;
using schedule::Range;
using schedule::Slice;

constexpr Slice kOutput{.buffer = Buffer::kOutput};
constexpr Slice kArea1{.buffer = Buffer::kScratch, .area = 1};
constexpr Slice kArea2{.buffer = Buffer::kScratch, .area = 2};

TEST(Unread, IsWhatArrivedUntilItIsRead) {
  Unread unread;
  EXPECT_EQ(unread.read(kOutput, {0, 100}), 0u);
  unread.arrives(kOutput, {10, 20});
  EXPECT_EQ(unread.read(kOutput, {0, 100}), 20u);
  EXPECT_EQ(unread.read(kOutput, {0, 100}), 0u);
}

TEST(Unread, IsKeptForEachBuffer) {
  Unread unread;
  unread.arrives(kArea1, {0, 8});
  EXPECT_EQ(unread.read(kArea2, {0, 8}), 0u);
  EXPECT_EQ(unread.read(kOutput, {0, 8}), 0u);
  EXPECT_EQ(unread.read(kArea1, {0, 8}), 8u);
}

TEST(Unread, LosesThePartThatIsReadOrWritten) {
  Unread unread;
  unread.arrives(kOutput, {0, 100});
  EXPECT_EQ(unread.read(kOutput, {40, 10}), 10u);
  unread.written(kOutput, {90, 30});
  EXPECT_EQ(unread.read(kOutput, {30, 30}), 20u) << "what is left on both sides of the first";
  EXPECT_EQ(unread.read(kOutput, {0, 200}), 30u + 30u);
}

TEST(Unread, CountsAgainWhatArrivesAgain) {
  Unread unread;
  unread.arrives(kOutput, {0, 10});
  unread.arrives(kOutput, {5, 10});
  EXPECT_EQ(unread.read(kOutput, {0, 100}), 15u);
  unread.arrives(kOutput, {5, 10});
  EXPECT_EQ(unread.read(kOutput, {0, 100}), 10u);
}

TEST(Unread, TellsPeersWhatLiesThereAndKeepsIt) {
  Unread unread;
  unread.arrives(kArea1, {0, 10});
  unread.arrives(kArea1, {20, 10});
  const std::vector<Range> seen = unread.within(kArea1, {5, 20});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].offset, 5u);
  EXPECT_EQ(seen[0].length, 5u);
  EXPECT_EQ(seen[1].offset, 20u);
  EXPECT_EQ(seen[1].length, 5u);
  EXPECT_EQ(common(seen, {0, 100}), 10u);
  EXPECT_EQ(common(seen, {8, 14}), 4u);
  EXPECT_EQ(common(seen, {10, 10}), 0u);
  EXPECT_EQ(unread.read(kArea1, {0, 100}), 20u);
  EXPECT_TRUE(unread.within(kArea2, {0, 100}).empty());
}

}  // namespace
}  // namespace hocket::simulation
