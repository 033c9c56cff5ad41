// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_launch/mpi_library.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace hocket::command {
namespace {

TEST(FamilyOfSoname, KnowsInterfacesByTheirNumbers) {
  EXPECT_EQ(family_of_soname("libmpi.so.12"), MpiFamily::kMpich);
  EXPECT_EQ(family_of_soname("libmpich.so.12.2.2"), MpiFamily::kMpich);
  EXPECT_EQ(family_of_soname("libmpi.so.40"), MpiFamily::kOpenMpi);
  EXPECT_EQ(family_of_soname("libmpi.so.40.30.4"), MpiFamily::kOpenMpi);
  EXPECT_EQ(family_of_soname("libmpi.so.120"), std::nullopt);
  EXPECT_EQ(family_of_soname("libmpi_abi.so.1"), MpiFamily::kStandard);
  EXPECT_EQ(family_of_soname("libmpi_abi.so.1.0"), MpiFamily::kStandard);
  EXPECT_EQ(family_of_soname("libmpi_abi.so.12"), std::nullopt);
  EXPECT_EQ(family_of_soname(""), std::nullopt);
}

TEST(WithPreload, PutsItsOwnFirstAndOnce) {
  EXPECT_EQ(with_preload("/a.so", nullptr), "/a.so");
  EXPECT_EQ(with_preload("/a.so", ""), "/a.so");
  EXPECT_EQ(with_preload("/a.so", "/b.so:/c.so"), "/a.so:/b.so:/c.so");
  EXPECT_EQ(with_preload("/a.so", "/b.so:/a.so"), "/a.so:/b.so");
}

TEST(NeededMpi, OfFilesThatAreNoMpiProgramsIsNothing) {
  EXPECT_EQ(needed_mpi("/proc/self/exe"), "");
  EXPECT_EQ(needed_mpi("/nowhere/at/all"), "");
  EXPECT_EQ(needed_mpi("/"), "");
}

// Cut off anywhere and with every header byte spoilt in turn: it must read nothing that isn't there.
TEST(NeededMpi, SurvivesBrokenFiles) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(8192, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(self.gcount()));
  const std::string path = ::testing::TempDir() + "mpi_library_test.elf";
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (size_t length : {0, 3, 4, 16, 63, 64, 65, 120, 500, 4000}) {
    write(head.substr(0, length));
    EXPECT_EQ(needed_mpi(path), "") << length;
  }
  for (size_t i = 4; i < 64 + 2 * 56; ++i) {
    std::string spoilt = head;
    spoilt[i] = '\xff';
    write(spoilt);
    EXPECT_EQ(needed_mpi(path), "") << i;
  }
  std::remove(path.c_str());
}

TEST(FindProgram, LooksWhereTheShellLooks) {
  EXPECT_NE(find_program("sh"), "");
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("no-such-program-anywhere"), "");
  EXPECT_EQ(find_program("/"), "");
}

TEST(IdentifyLauncher, SaysWhenAProgramIsNone) {
  EXPECT_FALSE(identify_launcher("no-such-program-anywhere").is_ok());
  const Result<Mpi> mpi = identify_launcher("true");
  ASSERT_FALSE(mpi.is_ok());
  EXPECT_NE(std::string(mpi.status().message()).find("true --version"), std::string::npos);
}

}  // namespace
}  // namespace hocket::command
