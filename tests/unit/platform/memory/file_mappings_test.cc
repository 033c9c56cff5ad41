// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/file_mappings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "platform/mapped_file.h"

namespace hocket::platform {
namespace {

FileIdentity identity(uint64_t device, uint64_t inode, std::string_view name) {
  return {device, inode, std::hash<std::string_view>()(name)};
}

TEST(FileMappings, AreTheSharedAndWritableOnesOfFiles) {
  const char* const maps =
      "00400000-00401000 r-xp 00000000 08:01 17                         /usr/bin/program\n"
      "01000000-01001000 rw-p 00000000 00:00 0                          [heap]\n"
      "7f0000000000-7f0000003000 rw-s 00001000 00:1b 203560             /dev/shm/some name (deleted)\n"
      "7f0000010000-7f0000011000 r--s 00000000 00:1b 203560             /dev/shm/other\n"
      "7f0000020000-7f0000021000 rw-p 00000000 00:1b 203561             /dev/shm/private\n"
      "7f0000030000-7f0000032000 rw-s 00000000 00:01 5                  /memfd:hocket (deleted)\n"
      "7f0000040000-7f0000041000 rw-s 00000000 00:01 32768              /SYSV00000000 (deleted)";
  const std::vector<FileMapping> expected = {
      {0x7f0000000000, 0x7f0000003000, 0x1000, identity(0x1b, 203560, "/dev/shm/some name")},
      {0x7f0000030000, 0x7f0000032000, 0, identity(1, 5, "/memfd:hocket")},
      {0x7f0000040000, 0x7f0000041000, 0, identity(1, 32768, "/SYSV00000000")},
  };
  EXPECT_EQ(parse_file_mappings(maps), expected);
}

// Their mappings of one place needn't show the same.
TEST(FileMappings, LeaveOutDevices) {
  EXPECT_TRUE(parse_file_mappings("7f00000-7f01000 rw-s 00000000 00:06 300 /dev/nvidia0\n"
                                  "7f10000-7f11000 rw-s 00000000 00:0e 300 anon_inode:[perf_event]\n"
                                  "7f20000-7f21000 rw-s 00000000 00:0e 300 /dmabuf:x\n"
                                  "7f30000-7f31000 rw-s 00000000 00:0e 300 /sys/devices/pci/resource0\n"
                                  "7f40000-7f41000 rw-s 00000000 00:0e 300 \n")
                  .empty());
}

TEST(FileMappings, AreOneWhereTheyContinueEachOther) {
  const std::vector<FileMapping> found = parse_file_mappings(
      "1000-3000 rw-s 00000000 00:1b 7 /dev/shm/a\n"
      "3000-4000 rw-s 00002000 00:1b 7 /dev/shm/a\n"
      "4000-5000 rw-s 00002000 00:1b 7 /dev/shm/a\n"
      "5000-6000 rw-s 00003000 00:1b 8 /dev/shm/b\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (FileMapping{0x1000, 0x4000, 0, identity(0x1b, 7, "/dev/shm/a")}));
  EXPECT_EQ(found[1], (FileMapping{0x4000, 0x5000, 0x2000, identity(0x1b, 7, "/dev/shm/a")}))
      << "the same part once more";
}

TEST(FileMappings, SurviveWhatTheyDontUnderstand) {
  for (const char* text : {"", "\n\n", "nonsense", "1000-", "1000-2000 rw-s", "1000-2000 rw-sextuple 0 0:0 1 /x"})
    EXPECT_TRUE(parse_file_mappings(text).empty()) << text;
}

TEST(FileMappings, KnowWhereAPartOfTheFileIs) {
  const FileMapping mapping{0x10000, 0x14000, 0x2000, {}};
  EXPECT_EQ(mapping.at(0x2000, 0x4000), 0x10000U);
  EXPECT_EQ(mapping.at(0x3000, 1), 0x11000U);
  EXPECT_EQ(mapping.at(0x1fff, 1), 0U);
  EXPECT_EQ(mapping.at(0x3000, 0x4000), 0U);
  EXPECT_EQ(mapping.at(UINT64_MAX, 1), 0U);
  EXPECT_TRUE(mapping.contains(0x13fff, 1));
  EXPECT_FALSE(mapping.contains(0x13fff, 2));
  EXPECT_FALSE(mapping.contains(0x13fff, UINT64_MAX));
}

TEST(FileMappings, OfThisProcessTellOfAFileWithoutAName) {
  const MappedFile file(3);
  const auto all = shared_file_mappings();
  const auto first = std::find_if(all.begin(), all.end(), [&](const FileMapping& one) {
    return one.contains(reinterpret_cast<uintptr_t>(file.one()), MappedFile::kBytes);
  });
  const auto second = std::find_if(all.begin(), all.end(), [&](const FileMapping& one) {
    return one.contains(reinterpret_cast<uintptr_t>(file.other()), MappedFile::kBytes);
  });
  ASSERT_NE(first, all.end());
  ASSERT_NE(second, all.end());
  EXPECT_EQ(first->file, second->file);
}

}  // namespace
}  // namespace hocket::platform
