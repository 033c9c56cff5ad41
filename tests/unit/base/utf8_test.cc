// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace hocket {
namespace {

TEST(Utf8, TellsHowLongACharacterIs) {
  EXPECT_EQ(length_of_character("ab"), 1u);
  EXPECT_EQ(length_of_character(std::string_view("\0", 1)), 1u);
  EXPECT_EQ(length_of_character("\xc3\xa4zz"), 2u);
  EXPECT_EQ(length_of_character("\xe2\x82\xac"), 3u);
  EXPECT_EQ(length_of_character("\xf0\x9f\x8e\xbc"), 4u);
  EXPECT_EQ(length_of_character("\xf4\x8f\xbf\xbf"), 4u) << "the last of all";
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  for (const char* wrong : {"", "\x80", "\xff", "\xc3", "\xe2\x82", "\xe2\x82z", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
                            "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    EXPECT_EQ(length_of_character(wrong), 0u) << testing::PrintToString(std::string(wrong));
}

}  // namespace
}  // namespace hocket
