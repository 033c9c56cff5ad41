// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/shapes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hocket::algorithms {
namespace {

constexpr uint32_t kDegrees[] = {1, 2, 3, 4, 5, 8, 32, kFlat};

// One past the last rank of the subtree, and a complaint if it isn't contiguous or lists a child of another parent.
uint32_t end_of_subtree(uint32_t rank, uint32_t size, uint32_t degree) {
  uint32_t end = rank + 1;
  for (const uint32_t child : knomial_tree(rank, size, degree).children) {
    EXPECT_EQ(child, end) << "subtrees of rank " << rank << " have a gap, size " << size << ", degree " << degree;
    EXPECT_EQ(knomial_tree(child, size, degree).parent, rank);
    end = end_of_subtree(child, size, degree);
  }
  return end;
}

TEST(KnomialTree, HasContiguousSubtreesThatCoverAllRanks) {
  for (uint32_t size = 1; size <= 130; ++size) {
    for (const uint32_t degree : kDegrees) ASSERT_EQ(end_of_subtree(0, size, degree), size);
  }
}

// In each phase whoever has been reached reaches degree-1 others, the biggest subtree first.
uint32_t phases_to_reach_all(uint32_t rank, uint32_t size, uint32_t degree) {
  const std::vector<uint32_t> children = knomial_tree(rank, size, degree).children_biggest_first();
  uint32_t phases = 0;
  for (size_t i = 0; i < children.size(); ++i) {
    const uint32_t reached_in = static_cast<uint32_t>(i / (degree - 1)) + 1;
    phases = std::max(phases, reached_in + phases_to_reach_all(children[i], size, degree));
  }
  return phases;
}

TEST(KnomialTree, ReachesAllInTheLogarithmOfTheSizeToTheDegree) {
  for (const uint32_t degree : {2u, 3u, 4u, 8u}) {
    uint64_t reached = 1;
    for (uint32_t phases = 0; phases < 3; ++phases, reached *= degree) {
      for (uint64_t size = reached; size < reached * degree; ++size) {
        const uint32_t expected = size == reached ? phases : phases + 1;
        ASSERT_EQ(phases_to_reach_all(0, static_cast<uint32_t>(size), degree), expected)
            << "size " << size << ", degree " << degree;
      }
    }
  }
}

TEST(KnomialTree, OfDegreeOneIsTheChain) {
  const Tree tree = knomial_tree(4, 9, 1);
  EXPECT_EQ(tree.parent, 3u);
  EXPECT_EQ(tree.children, std::vector<uint32_t>{5});
  EXPECT_TRUE(knomial_tree(8, 9, 1).children.empty());
}

TEST(KnomialTree, IsFlatFromOneLessThanTheSizeOn) {
  for (uint32_t size = 2; size <= 40; ++size) {
    for (const uint32_t degree : {size - 1, size, size + 1, kFlat}) {
      EXPECT_EQ(knomial_tree(0, size, degree).children.size(), size - 1) << "size " << size << ", degree " << degree;
    }
  }
}

TEST(Hypercube, NumbersTheVerticesInRankOrder) {
  for (uint32_t size = 1; size <= 130; ++size) {
    uint32_t next = 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
      const Hypercube cube = hypercube(rank, size);
      ASSERT_LE(cube.vertices(), size);
      ASSERT_GT(2 * cube.vertices(), size);
      if (cube.is_extra) continue;
      ASSERT_EQ(cube.vertex, next++) << "rank " << rank << " of " << size;
      ASSERT_EQ(cube.rank_of(cube.vertex), rank);
    }
    ASSERT_EQ(next, hypercube(0, size).vertices());
  }
}

TEST(Hypercube, FoldsEveryExtraIntoItsRightNeighbour) {
  for (uint32_t size = 1; size <= 130; ++size) {
    uint32_t extras = 0;
    for (uint32_t rank = 0; rank < size; ++rank) {
      const bool left_is_extra = rank > 0 && hypercube(rank - 1, size).is_extra;
      ASSERT_EQ(hypercube(rank, size).has_extra, left_is_extra) << "rank " << rank << " of " << size;
      if (hypercube(rank, size).is_extra) ++extras;
    }
    ASSERT_EQ(extras, size - hypercube(0, size).vertices());
    ASSERT_FALSE(hypercube(size - 1, size).is_extra);
  }
}

}  // namespace
}  // namespace hocket::algorithms
