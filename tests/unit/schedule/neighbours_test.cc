// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/neighbours.h"

#include <gtest/gtest.h>

namespace hocket::schedule {
namespace {

using Lists = Neighbours::Lists;

std::vector<uint32_t> copy_of(std::span<const uint32_t> some) { return {some.begin(), some.end()}; }

std::string why_not(const std::vector<Lists>& lists) {
  auto made = Neighbours::of_lists(lists);
  return made.is_ok() ? "" : made.status().message();
}

TEST(Neighbours, MatchTheKthBlockOfAPairWithTheKth) {
  const std::vector<Lists> lists = {{{}, {1, 0, 1}}, {{0, 0}, {}}};
  EXPECT_NE(why_not(lists), "") << "rank 0 is a destination of rank 0 only by one of its lists";
  const auto made = Neighbours::of_lists(std::vector<Lists>{{{0}, {1, 0, 1}}, {{0, 0}, {}}}).take();
  EXPECT_EQ(copy_of(made->slots(0)), (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(copy_of(made->origins(1)), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(copy_of(made->origins(0)), (std::vector<uint32_t>{1}));
  EXPECT_EQ(made->number_in(1, 1), made->number_out(0, 2));
  EXPECT_EQ(made->blocks(), 3u);
  EXPECT_EQ(made->most_destinations(), 3u);
  EXPECT_EQ(made->most_sources(), 2u);
  EXPECT_EQ(made->grid(), nullptr);
}

TEST(Neighbours, MayBeNobody) {
  const auto made = Neighbours::of_lists(std::vector<Lists>(3)).take();
  EXPECT_EQ(made->ranks(), 3u);
  EXPECT_TRUE(made->sources(2).empty());
  EXPECT_EQ(made->blocks(), 0u);
}

TEST(Neighbours, AreRefusedByNameWhereTwoRanksDisagree) {
  EXPECT_EQ(
      why_not({{{}, {1, 1}}, {{0}, {}}}),
      "blocks from rank 0 to rank 1: 2 by the destinations of the first, 1 by the sources of the other; both must "
      "say the same");
  EXPECT_EQ(
      why_not({{{1}, {}}, {{}, {}}}),
      "blocks from rank 1 to rank 0: 0 by the destinations of the first, 1 by the sources of the other; both must "
      "say the same");
  EXPECT_EQ(why_not({{{}, {5}}, {{}, {}}}), "destination 0 of rank 0 is rank 5, and there are 2 ranks");
  EXPECT_EQ(why_not({{{}, {}}, {{static_cast<uint32_t>(-3)}, {}}}),
            "source 0 of rank 1 is rank -3, and there are 2 ranks");
}

TEST(Neighbours, OnAGridAreBelowAndAboveInEachDimension) {
  const auto made = Neighbours::of_grid({2, 3}, {false, true}, 6).take();
  EXPECT_EQ(copy_of(made->destinations(0)), (std::vector<uint32_t>{kNoRank, 3, 2, 1}));
  EXPECT_EQ(copy_of(made->sources(0)), (std::vector<uint32_t>{kNoRank, 3, 2, 1}));
  EXPECT_EQ(copy_of(made->destinations(5)), (std::vector<uint32_t>{2, kNoRank, 4, 3}));
  EXPECT_EQ(copy_of(made->slots(5)), (std::vector<uint32_t>{1, 0, 3, 2})) << "what goes down comes from above";
}

TEST(Neighbours, OfAShortPeriodicDimensionAreTheSameRankTwice) {
  const auto two = Neighbours::of_grid({2}, {true}, 2).take();
  EXPECT_EQ(copy_of(two->destinations(0)), (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(copy_of(two->origins(0)), (std::vector<uint32_t>{1, 0}));
  const auto one = Neighbours::of_grid({1}, {true}, 1).take();
  EXPECT_EQ(copy_of(one->destinations(0)), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(copy_of(one->slots(0)), (std::vector<uint32_t>{1, 0}));
}

TEST(Neighbours, OfAStencilComeFromWhereTheRankIsTheirs) {
  const auto made = Neighbours::of_stencil({4}, {true}, {1, 2}, 4).take();
  EXPECT_EQ(copy_of(made->destinations(3)), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(copy_of(made->sources(3)), (std::vector<uint32_t>{2, 1}));
  ASSERT_NE(made->grid(), nullptr);
  const auto diagonal = Neighbours::of_stencil({2, 2}, {false, false}, {1, 1}, 4).take();
  EXPECT_EQ(copy_of(diagonal->destinations(0)), (std::vector<uint32_t>{3}));
  EXPECT_EQ(copy_of(diagonal->destinations(1)), (std::vector<uint32_t>{kNoRank}));
  EXPECT_EQ(copy_of(diagonal->sources(3)), (std::vector<uint32_t>{0}));
}

TEST(Neighbours, OnAGridOfAnotherSizeAreRefused) {
  const auto refused = Neighbours::of_grid({2, 2}, {false, false}, 6);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_STREQ(refused.status().message(), "the grid has 4 points, and there are 6 ranks; it must have one for each");
  EXPECT_FALSE(Neighbours::of_grid({0}, {false}, 0).is_ok());
  EXPECT_FALSE(Neighbours::of_grid({2}, {}, 2).is_ok());
  EXPECT_FALSE(Neighbours::of_stencil({}, {}, {}, 1).is_ok());
  EXPECT_FALSE(Neighbours::of_stencil({2, 2}, {true, true}, {1, 0, 1}, 4).is_ok());
  EXPECT_FALSE(Neighbours::of_grid(std::vector<uint32_t>(3, 1u << 30), {true, true, true}, 0).is_ok());
}

}  // namespace
}  // namespace hocket::schedule
