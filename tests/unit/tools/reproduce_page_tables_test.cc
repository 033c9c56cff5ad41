// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/page_tables.h"

#include <gtest/gtest.h>

namespace hocket::reproduce {
namespace {

constexpr const char* kPage =
    "# A page\n\n## One\n\n| bytes | mpi | by us |\n|---|---|---|\n| 512 B | 4796 (4019..5442) | **712** |\n"
    "| 1 KiB | 0.35 / 0.15 (2.34) | 54\\* |\n\nbehind it\n\n## Other\n| x |\n|---|\n| 1 |\n";

TEST(ReproducePageTables, FindsTheTableBehindALineAndByItsHead) {
  const PageTable table = find_table(kPage, "## One");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"512 B", "4796 (4019..5442)", "712"}));
  EXPECT_EQ(table.rows[1][2], "*54");
  EXPECT_EQ(table.column("by us"), 2u);
  EXPECT_FALSE(table.column("nobody"));
  EXPECT_EQ(find_table(kPage, "| bytes |").rows.size(), 2u);
  EXPECT_EQ(find_table(kPage, "## Other").rows.size(), 1u);
  EXPECT_TRUE(find_table(kPage, "## Nowhere").head.empty());
  EXPECT_TRUE(find_table("", "").head.empty());
}

TEST(ReproducePageTables, ReadsNumbersAsPagesWriteThem) {
  EXPECT_EQ(number_in("4796 (4019..5442)"), 4796);
  EXPECT_EQ(number_in("0.35 / 0.15 (2.34)", 2), 0.15);
  EXPECT_EQ(number_in("16 KiB"), 16384);
  EXPECT_EQ(number_in("1K"), 1024);
  EXPECT_EQ(number_in("1 MiB"), 1 << 20);
  EXPECT_EQ(number_in("512 B"), 512);
  EXPECT_EQ(number_in("10 %"), 10);
  EXPECT_EQ(number_in("8x4"), 32);
  EXPECT_EQ(number_in("*54"), 54);
  EXPECT_FALSE(number_in("as pieces"));
  EXPECT_FALSE(number_in(""));
  EXPECT_FALSE(number_in("1 / 2", 3));
}

}  // namespace
}  // namespace hocket::reproduce
