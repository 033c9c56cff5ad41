// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/nodes.h"

#include <gtest/gtest.h>

namespace hocket::schedule {
namespace {

using Ranks = std::vector<uint32_t>;

TEST(Nodes, AreNumberedByTheirLowestRanks) {
  const std::vector<uint64_t> labels = {70, 70, 5, 900, 5, 70};
  const Nodes nodes(labels);
  EXPECT_EQ(nodes.ranks(), 6u);
  EXPECT_EQ(nodes.count(), 3u);
  EXPECT_EQ(nodes.ranks_of(0), (Ranks{0, 1, 5}));
  EXPECT_EQ(nodes.ranks_of(1), (Ranks{2, 4}));
  EXPECT_EQ(nodes.ranks_of(2), (Ranks{3}));
  EXPECT_EQ(nodes.node_of(4), 1u);
  EXPECT_EQ(nodes.place_of(5), 2u);
  EXPECT_TRUE(nodes.together(0, 5));
  EXPECT_FALSE(nodes.together(0, 2));
}

TEST(Nodes, KnowHowRanksAreSpread) {
  const Nodes uneven(std::vector<uint64_t>{1, 1, 2, 1});
  EXPECT_EQ(uneven.fewest(), 1u);
  EXPECT_EQ(uneven.most(), 3u);
  EXPECT_FALSE(uneven.is_even());
  EXPECT_FALSE(uneven.is_in_blocks());
  const Nodes blocks(std::vector<uint64_t>{9, 9, 4, 4});
  EXPECT_TRUE(blocks.is_even());
  EXPECT_TRUE(blocks.is_in_blocks());
  const Nodes cyclic(std::vector<uint64_t>{0, 1, 0, 1});
  EXPECT_TRUE(cyclic.is_even());
  EXPECT_FALSE(cyclic.is_in_blocks());
}

TEST(Nodes, InBlocksHoldNeighbours) {
  const Nodes nodes = Nodes::in_blocks({2, 1, 3});
  EXPECT_EQ(nodes.count(), 3u);
  EXPECT_EQ(nodes.ranks_of(0), (Ranks{0, 1}));
  EXPECT_EQ(nodes.ranks_of(1), (Ranks{2}));
  EXPECT_EQ(nodes.ranks_of(2), (Ranks{3, 4, 5}));
  EXPECT_TRUE(nodes.is_in_blocks());
}

TEST(Nodes, AreOneIfAllRanksShareMemory) {
  const Nodes one(3);
  EXPECT_EQ(one.count(), 1u);
  EXPECT_EQ(one.ranks_of(0), (Ranks{0, 1, 2}));
  EXPECT_TRUE(one.is_in_blocks());
}

}  // namespace
}  // namespace hocket::schedule
