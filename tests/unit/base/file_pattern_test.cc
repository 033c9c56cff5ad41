// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_pattern.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

TEST(FilePattern, FilesAreNamedByTheHost) { EXPECT_EQ(file_of_pattern("t-%h-%%.json", "n%h1"), "t-n%h1-%.json"); }

TEST(FilePattern, WhatStandsForNothingIsAProblem) {
  for (const char* right : {"a", "/tmp/%h.json", "50%%.json", "%%%h"}) EXPECT_EQ(problem_of_file_pattern(right), "");
  EXPECT_EQ(problem_of_file_pattern("a%p.json"), "`%p` stands for nothing");
  EXPECT_EQ(problem_of_file_pattern("a%"), "`%` stands for nothing");
  EXPECT_NE(problem_of_file_pattern("folder/"), "");
  EXPECT_NE(problem_of_file_pattern(""), "");
}

TEST(FilePattern, PathsAreWhole) {
  EXPECT_EQ(whole_path("/tmp/a"), "/tmp/a");
  const std::string path = whole_path("b/a");
  EXPECT_EQ(path.front(), '/');
  EXPECT_TRUE(path.ends_with("/b/a")) << path;
}

}  // namespace
}  // namespace hocket
