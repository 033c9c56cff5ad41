// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_stat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "platform/child_process.h"

namespace hocket::platform {
namespace {

// As the kernel writes it, with another name and fewer of the fields that nobody reads.
std::string line_of(const std::string& name) {
  return "4711 (" + name +
         ") S 42 4711 4711 0 -1 4194304 1 2 3 4 150 25 5 6 20 0 3 0 987654321 1000 2000 18446744073\n";
}

TEST(ProcessStat, IsReadOutOfTheKernelsLine) {
  const auto stat = parse_process_stat(line_of("solver"));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "solver");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 42);
  EXPECT_EQ(stat->user_ticks, 150u);
  EXPECT_EQ(stat->system_ticks, 25u);
  EXPECT_EQ(stat->threads, 3);
  EXPECT_EQ(stat->started, 987654321u);
}

TEST(ProcessStat, ANameMayLookLikeTheFieldsAroundIt) {
  for (const std::string name : {"a b", ")", "((", ") Z 1 2 3 (", "(x) R 7", "a\nb", "", " "}) {
    const auto stat = parse_process_stat(line_of(name));
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->state, 'S') << name;
    EXPECT_EQ(stat->parent, 42) << name;
  }
}

TEST(ProcessStat, OfALineThatWasCutNothingIsGuessed) {
  const std::string line = line_of("a) S 1 (b");
  const size_t whole = line.find("987654321") + std::string("987654321").size();
  for (size_t length = 0; length <= whole; ++length)
    EXPECT_FALSE(parse_process_stat(line.substr(0, length))) << line.substr(0, length);
  EXPECT_TRUE(parse_process_stat(line.substr(0, whole + 1)));
}

TEST(ProcessStat, WhatIsNoSuchLineIsNone) {
  for (const char* line : {"", "()", ")(", "1 (a)", "1 (a) S x 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 1 0 5 \n",
                           "1 (a) SS 1 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 1 0 5 \n",
                           "1 (a) S 1 0 0 0 0 0 0 0 0 0 1 1 0 0 0 0 1 0 99999999999999999999999 \n"})
    EXPECT_FALSE(parse_process_stat(line)) << line;
}

TEST(ProcessStat, OfThisProcessIsWhatItKnowsItself) {
  prctl(PR_SET_NAME, "od) d (na me");
  const auto stat = stat_of_process(getpid());
  prctl(PR_SET_NAME, "platform_tests");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "od) d (na me");
  EXPECT_EQ(stat->parent, getppid());
  EXPECT_GE(stat->threads, 1);
  EXPECT_GT(stat->started, 0u);
}

TEST(ProcessStat, OfAProcessThatEndsThereIsOneUntilItsParentHasAsked) {
  const pid_t child = start_child([] { return 0; });
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const auto stat = stat_of_process(child);
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->is_over());
  end_of_child(child);
  EXPECT_FALSE(stat_of_process(child));
}

}  // namespace
}  // namespace hocket::platform
