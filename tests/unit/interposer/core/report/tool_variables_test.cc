// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/tool_variables.h"

#include <gtest/gtest.h>
#include <hocket/counters.h>

#include <set>
#include <string>
#include <vector>

namespace hocket::interposer {
namespace {

TEST(ToolVariables, HaveNamesThatLeadBackAndDescriptions) {
  std::set<std::string> names;
  for (int which = 0; which < tool_variables(); ++which) {
    const ToolVariable variable = tool_variable(which);
    EXPECT_EQ(std::string(variable.name).rfind("hocket_", 0), 0u) << variable.name;
    EXPECT_EQ(find_tool_variable(variable.name), which);
    EXPECT_GT(std::string(variable.description).size(), 10u);
    names.insert(variable.name);
    read_tool_variable(which);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(tool_variables()));
  EXPECT_EQ(names.size(), static_cast<size_t>(2 + hocket_counter_count()));
  EXPECT_EQ(find_tool_variable("hocket_"), -1);
  EXPECT_EQ(find_tool_variable(nullptr), -1);
}

TEST(ToolVariables, StandBehindTheMpisThatWereThereFirst) {
  const int own = tool_variables();
  const ToolNumbers numbers(100);
  EXPECT_EQ(numbers.own(99), -1);
  EXPECT_EQ(numbers.own(100), 0);
  EXPECT_EQ(numbers.own(99 + own), own - 1);
  EXPECT_EQ(numbers.own(100 + own), -1);
  EXPECT_EQ(numbers.own(-1), -1);
  for (const int of_mpi : {0, 99, 100, 101, 1000}) {
    EXPECT_EQ(numbers.to_mpi(numbers.from_mpi(of_mpi)), of_mpi);
    EXPECT_EQ(numbers.own(numbers.from_mpi(of_mpi)), -1);
  }
  for (int which = 0; which < own; ++which) EXPECT_EQ(numbers.own(numbers.of_own(which)), which);
}

TEST(ToolVariables, AreCountedWhileAnyHandleIsHeld) {
  EXPECT_EQ(hocket_counters_enable(0), 0);
  ToolHandle* const one = make_tool_handle(1);
  ToolHandle* const other = make_tool_handle(2);
  ASSERT_NE(one, nullptr);
  EXPECT_TRUE(is_tool_handle(one));
  EXPECT_EQ(variable_of(one), 1);
  EXPECT_EQ(variable_of(other), 2);
  free_tool_handle(one);
  EXPECT_EQ(hocket_counters_enable(1), 1);
  free_tool_handle(other);
  EXPECT_EQ(hocket_counters_enable(0), 0);
  int elsewhere = 0;
  EXPECT_FALSE(is_tool_handle(&elsewhere));
  EXPECT_FALSE(is_tool_handle(nullptr));
}

TEST(ToolVariables, HaveHandlesUpToAnEnd) {
  std::vector<ToolHandle*> held;
  while (ToolHandle* const handle = make_tool_handle(0)) {
    ASSERT_LT(held.size(), 100'000u);
    held.push_back(handle);
  }
  EXPECT_GE(held.size(), 100u);
  free_tool_handle(held.back());
  EXPECT_EQ(make_tool_handle(3), held.back());
  for (ToolHandle* const handle : held) free_tool_handle(handle);
}

TEST(ToolVariables, GiveTextsAsLongAsThereIsRoom) {
  char text[8] = "-------";
  int length = 4;
  copy_tool_text("abcdef", text, &length);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(length, 7);
  copy_tool_text("abcdef", text, &length);
  EXPECT_STREQ(text, "abcdef");
  length = 0;
  copy_tool_text("xyz", text, &length);
  EXPECT_STREQ(text, "abcdef");
  EXPECT_EQ(length, 4);
  copy_tool_text("xyz", nullptr, &length);
  copy_tool_text("xyz", text, nullptr);
  EXPECT_EQ(length, 4);
}

}  // namespace
}  // namespace hocket::interposer
