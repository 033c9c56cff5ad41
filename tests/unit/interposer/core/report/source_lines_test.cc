// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/source_lines.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/report/site_table.h"

namespace hocket::interposer {
namespace {

TEST(SourceLines, AreReadAsEachOfThePrograms) {
  const SourceLine gnu = parse_source_line("main", "/src/solver.c:31 (discriminator 2)");
  EXPECT_EQ(gnu.function, "main");
  EXPECT_EQ(gnu.file, "/src/solver.c");
  EXPECT_EQ(gnu.line, 31u);
  const SourceLine elfutils = parse_source_line("ns::step(int)", "/a:b/solver.cc:7:12");
  EXPECT_EQ(elfutils.function, "ns::step(int)");
  EXPECT_EQ(elfutils.file, "/a:b/solver.cc");
  EXPECT_EQ(elfutils.line, 7u);
}

TEST(SourceLines, AreUnknownWhereNothingSaysThem) {
  for (const char* place : {"??:0", "??:?", "solver.c:?", "solver.c:0", "", "solver.c", "a:99999999999"}) {
    const SourceLine line = parse_source_line("??", place);
    EXPECT_EQ(line.function, "") << place;
    EXPECT_EQ(line.file, "") << place;
    EXPECT_EQ(line.line, 0u) << place;
  }
  EXPECT_EQ(parse_source_line("main", "??:0").function, "main");
}

TEST(SourceLines, OfThisProgramAreFound) {
  const void* address = nullptr;
  // The address of the next line's call, as it returns.
  [&]() __attribute__((noinline)) { address = __builtin_return_address(0); }();
  const uint32_t line = __LINE__ - 1;
  const CallSite site = {address, Collective::kBarrier, 1, 1, 0};
  const SiteTable table = place_sites({&site, 1});
  ASSERT_EQ(table.sites().size(), 1u);
  const uint64_t offsets[] = {table.places[0].offset, 0};
  const std::vector<SourceLine> lines = source_lines(table.places[0].object, offsets, 60000);
  ASSERT_EQ(lines.size(), 2u);
  if (lines[0].file.empty()) GTEST_SKIP() << "there is no addr2line, or this program has no debug information";
  EXPECT_NE(lines[0].file.find("source_lines_test.cc"), std::string::npos) << lines[0].file;
  EXPECT_EQ(lines[0].line, line);
  EXPECT_EQ(lines[1].file, "");
}

TEST(SourceLines, OfNoFileOrWithoutAnybodyToAskAreUnknown) {
  const uint64_t offset = 16;
  EXPECT_EQ(source_lines("/no/such/file", {&offset, 1}, 1000).at(0).file, "");
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/no/such/folder", 1);
  const std::vector<SourceLine> lines = source_lines("/proc/self/exe", {&offset, 1}, 1000);
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].file, "");
}

}  // namespace
}  // namespace hocket::interposer
