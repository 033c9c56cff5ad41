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

// The lists of a torus with diagonals, as a program that knows MPI's distributed graphs only has them; `changed` rank
// has two of its sources exchanged.
std::shared_ptr<const Neighbours> lists_of_torus(uint32_t changed) {
  const std::vector<int32_t> offsets = {0, 1, 0, -1, 1, 0, -1, 0, 1, 1, -1, -1, 1, -1, -1, 1};
  const auto torus = Neighbours::of_stencil({3, 5}, {true, true}, offsets, 15).take();
  std::vector<Lists> lists(15);
  for (uint32_t rank = 0; rank < 15; ++rank) {
    lists[rank].destinations = copy_of(torus->destinations(rank));
    // From where they are in the list of destinations.
    lists[rank].sources = lists[rank].destinations;
  }
  if (changed < 15) std::swap(lists[changed].sources[0], lists[changed].sources[1]);
  return Neighbours::of_lists(lists).take();
}

TEST(Neighbours, OfListsLieOnTheTorusThatTheyWereMadeOf) {
  const auto made = lists_of_torus(99);
  ASSERT_NE(made->grid(), nullptr);
  EXPECT_EQ(made->grid()->lengths, (std::vector<uint32_t>{3, 5}));
  EXPECT_EQ(copy_of(made->grid()->slots), (std::vector<uint32_t>{1, 0, 3, 2, 5, 4, 7, 6}));
  for (uint32_t rank = 0; rank < 15; ++rank)
    for (uint32_t k = 0; k < 8; ++k) EXPECT_EQ(made->grid()->at(rank, k, 1), made->destinations(rank)[k]);
  EXPECT_EQ(lists_of_torus(7)->grid(), nullptr) << "one rank has its blocks in another order";
  std::vector<Lists> ring(6);
  for (uint32_t rank = 0; rank < 6; ++rank)
    ring[rank] = {{(rank + 5) % 6, (rank + 1) % 6}, {(rank + 5) % 6, (rank + 1) % 6}};
  EXPECT_EQ(Neighbours::of_lists(ring).take()->grid(), nullptr) << "there is nothing to be put together on a ring";
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
