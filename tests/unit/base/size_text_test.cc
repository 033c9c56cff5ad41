// SPDX-License-Identifier: BSD-3-Clause
#include "base/size_text.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

TEST(SizeText, UnitsArePowersOf1024HoweverTheyAreWritten) {
  EXPECT_EQ(parse_size("0").value(), 0u);
  EXPECT_EQ(parse_size("512").value(), 512u);
  for (const char* text : {"8", "8B", "8b"}) EXPECT_EQ(parse_size(text).value(), 8u) << text;
  for (const char* text : {"64K", "64k", "64KB", "64kB", "64kb", "64KiB", "64kib"})
    EXPECT_EQ(parse_size(text).value(), 65536u) << text;
  for (const char* text : {"3M", "3m", "3MB", "3MiB"}) EXPECT_EQ(parse_size(text).value(), 3u << 20) << text;
  for (const char* text : {"2G", "2g", "2GB", "2GiB"}) EXPECT_EQ(parse_size(text).value(), uint64_t{2} << 30) << text;
}

TEST(SizeText, WhatIsWrittenReadsBackTheSame) {
  for (uint64_t bytes : {0ull, 1ull, 1000ull, 1024ull, 1536ull, 1048576ull, 3ull << 30, ~0ull, 5ull << 40})
    EXPECT_EQ(parse_size(size_to_text(bytes)).value(), bytes) << size_to_text(bytes);
  EXPECT_EQ(size_to_text(65536), "64K");
  EXPECT_EQ(size_to_text(1536), "1536");
}

TEST(SizeText, RefusesWhatIsNotASize) {
  for (const char* text : {"",
                           "K",
                           "B",
                           "KiB",
                           "-1",
                           "+1",
                           "4.5K",
                           "4KK",
                           "4Ki",
                           "4iB",
                           "4BB",
                           "4BK",
                           "4KBB",
                           "4KiBs",
                           "1T",
                           " 4",
                           "4 ",
                           "4 K",
                           "0x10",
                           "18446744073709551616",
                           "17179869184G"})
    EXPECT_FALSE(parse_size(text).is_ok()) << text;
}

TEST(SizeText, AnErrorNamesTheTextAndTheRemedy) {
  EXPECT_STREQ(parse_size("64Q").status().message(),
               "`64Q` is not a size; write bytes such as 4096, 64K, 16M or 1G (64KB and 64KiB are 64K)");
}

}  // namespace
}  // namespace hocket
