// SPDX-License-Identifier: BSD-3-Clause
#include "selection/measured.h"

#include <gtest/gtest.h>

#include "selection/parsed_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;

std::optional<Measured> best(const std::string& lines, uint64_t bytes, uint32_t ranks) {
  Query query;
  query.collective = Collective::kAllreduce;
  query.bytes = bytes;
  query.ranks = ranks;
  query.element_bytes = 8;
  query.oversubscribed = true;
  return best_measured(query, parsed_table(lines));
}

constexpr const char* kLines =
    "allreduce bytes=..100 direct us=3.1 next=ring next_us=6.5 # at 64, 4 ranks\n"
    "allreduce bytes=..8K ring us=70 next=direct next_us=60.5 # at 4K, 4 ranks\n"
    "allreduce ring # at 64K, 4 ranks\n";

TEST(BestMeasured, IsTheLowestTimeOfTheLineThatHolds) {
  const std::optional<Measured> direct = best(kLines, 80, 4);
  ASSERT_TRUE(direct);
  EXPECT_EQ(direct->algorithm, "direct");
  EXPECT_EQ(direct->us, 3.1);
  EXPECT_EQ(direct->bytes, 64u);
  EXPECT_FALSE(direct->is_shipped);
  const std::optional<Measured> next = best(kLines, 4096, 4);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->algorithm, "direct");
  EXPECT_EQ(next->us, 60.5);
}

TEST(BestMeasured, IsOfCallsThatAreAlike) {
  EXPECT_TRUE(best(kLines, 8, 4)) << "both are short";
  EXPECT_TRUE(best(kLines, 2048, 4));
  EXPECT_TRUE(best(kLines, 8192, 4));
  EXPECT_FALSE(best(kLines, 2040, 4)) << "less than half";
  EXPECT_FALSE(best(kLines, 8, 3)) << "other ranks";
  EXPECT_FALSE(best(kLines, 65536, 4)) << "the line says no time";
  EXPECT_FALSE(best("allreduce direct us=3.1\n", 8, 4)) << "the line says no place";
  EXPECT_FALSE(best("", 8, 4));
}

TEST(BestMeasured, SaysWhereATableIsHockets) {
  Query query;
  query.collective = Collective::kAllreduce;
  query.bytes = 64;
  query.ranks = 16;
  query.element_bytes = 8;
  query.oversubscribed = true;
  const std::optional<Measured> found = best_measured(query, Table::shipped());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_shipped);
}

}  // namespace
}  // namespace hocket::selection
