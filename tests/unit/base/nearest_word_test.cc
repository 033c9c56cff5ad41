// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest_word.h"

#include <gtest/gtest.h>

#include <string_view>

namespace hocket {
namespace {

constexpr std::string_view kKnown[] = {"openmpi", "mpich", "intel"};

TEST(NearestWord, IsTheOneThatIsLikelyMeant) {
  EXPECT_EQ(nearest_word("opnmpi", kKnown), "openmpi");
  EXPECT_EQ(nearest_word("mpihc", kKnown), "mpich");
  EXPECT_EQ(nearest_word("frobnicate", kKnown), "");
}

TEST(NearestWord, IsAskedForOnlyWhereThereIsOne) {
  EXPECT_EQ(question_after(nearest_word("intl", kKnown)), "did you mean `intel`? ");
  EXPECT_EQ(question_after(nearest_word("", kKnown)), "");
}

}  // namespace
}  // namespace hocket
