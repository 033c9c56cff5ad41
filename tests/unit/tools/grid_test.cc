// SPDX-License-Identifier: BSD-3-Clause
#include "words/grid.h"

#include <gtest/gtest.h>

namespace hocket::command {
namespace {

using Lengths = std::vector<uint32_t>;

Result<GridShape> read(const std::string& lengths, uint32_t ranks, const std::string& periodic = "yes",
                       const std::string& stencil = "faces") {
  return read_grid({lengths, periodic, stencil}, ranks);
}

TEST(Grid, IsAsEvenAsTheRanksAllow) {
  EXPECT_EQ(read("", 12).value().lengths, (Lengths{4, 3}));
  EXPECT_EQ(read("2d", 8).value().lengths, (Lengths{4, 2}));
  EXPECT_EQ(read("2d", 7).value().lengths, (Lengths{7, 1}));
  EXPECT_EQ(read("3d", 8).value().lengths, (Lengths{2, 2, 2}));
  EXPECT_EQ(read("3d", 24).value().lengths, (Lengths{4, 3, 2}));
  EXPECT_EQ(read("3d", 1).value().lengths, (Lengths{1, 1, 1}));
  EXPECT_EQ(read("1d", 1u << 20).value().lengths, (Lengths{1u << 20}));
}

TEST(Grid, SaysHowManyRanksThereAre) {
  uint32_t ranks = 0;
  EXPECT_EQ(read_grid({"4x1x3"}, ranks).value().lengths, (Lengths{4, 1, 3}));
  EXPECT_EQ(ranks, 12u);
  EXPECT_TRUE(GridWords{"4x3"}.has_points());
  EXPECT_FALSE(GridWords{"3d"}.has_points());
  EXPECT_FALSE(GridWords{}.has_points());
}

TEST(Grid, NamesWhatIsWrong) {
  const auto problem = [](const Result<GridShape>& grid) {
    return grid.is_ok() ? std::string("taken") : std::string(grid.status().message());
  };
  EXPECT_NE(problem(read("3x3", 8)).find("9 points, and there are 8 ranks"), std::string::npos);
  for (const char* lengths : {"4y", "x", "4x", "0x4", "-1x4", "4x2x", "99999999999x1"})
    EXPECT_NE(problem(read(lengths, 4)).find(std::string("--grid ") + lengths), std::string::npos) << lengths;
  for (const char* dimensions : {"0d", "7d", "d", "xd"})
    EXPECT_NE(problem(read(dimensions, 4)).find("1d to 6d"), std::string::npos) << dimensions;
  EXPECT_NE(problem(read("2d", 0)).find("--ranks"), std::string::npos);
  EXPECT_NE(problem(read("1000x1000x1000", 0)).find("1048576"), std::string::npos);
  EXPECT_NE(problem(read("2x2", 4, "maybe")).find("`maybe`"), std::string::npos);
  EXPECT_NE(problem(read("2x2", 4, "yes,no,yes")).find("2 dimensions"), std::string::npos);
  EXPECT_NE(problem(read("2x2", 4, "yes", "corners")).find("corners"), std::string::npos);
  EXPECT_NE(problem(read("10x10x10x10x10x10", 0, "yes", "full")).find("728 neighbours"), std::string::npos);
}

TEST(Grid, IsSaidAsItIsRead) {
  const GridWords words = read("2d", 6, "no,yes", "full").value().words();
  EXPECT_EQ(words.lengths, "3x2");
  EXPECT_EQ(words.periodic, "no,yes");
  EXPECT_EQ(words.stencil, "full");
  EXPECT_EQ(read("2d", 6, "no,no").value().words().periodic, "no");
}

TEST(Grid, HasAllDiagonalNeighboursWhereItIsFull) {
  const GridShape grid = read("3x3", 9, "no", "full").value();
  EXPECT_EQ(grid.offsets(), (std::vector<int32_t>{-1, -1, -1, 0, -1, 1, 0, -1, 0, 1, 1, -1, 1, 0, 1, 1}));
  EXPECT_EQ(neighbours_on(grid).value()->destinations(4).size(), 8u);
  EXPECT_EQ(neighbours_on(grid).value()->destinations(0).size(), 8u);
}

TEST(Grid, ListsWhoeverIsThere) {
  const auto listed = listed_neighbours_on(read("3x3", 9, "no", "full").value()).take();
  const std::span<const uint32_t> corner = listed->destinations(0);
  EXPECT_EQ(std::vector<uint32_t>(corner.begin(), corner.end()), (std::vector<uint32_t>{1, 3, 4}));
  EXPECT_EQ(listed->sources(0).size(), 3u);
  EXPECT_EQ(listed->destinations(4).size(), 8u);
}

}  // namespace
}  // namespace hocket::command
