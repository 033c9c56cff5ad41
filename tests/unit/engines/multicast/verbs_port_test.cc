// SPDX-License-Identifier: BSD-3-Clause
// How multicast over verbs is refused where it can't be: what is missing, and the remedy. What it carries is tried over
// soft-RoCE in a machine of its own (scripts/rdma.sh).
#include "engines/multicast/verbs_port.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace hocket::engines::multicast {
namespace {

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks\n" << part;
}

class MulticastOverVerbs : public testing::Test {
 protected:
  MulticastOverVerbs() : directory_(testing::TempDir() + "hocket-verbs-" + std::to_string(getpid())) {
    std::filesystem::create_directory(directory_);
  }
  ~MulticastOverVerbs() override { std::filesystem::remove_all(directory_); }

  std::string library() const { return directory_ + "/" + kVerbsLibrary; }
  static std::string why_not(const std::string& directory, const char* group = "239.192.1.2:5000") {
    Result<Interface> interface = find_interface("lo", Family::kIpv4);
    EXPECT_TRUE(interface.is_ok());
    Result<std::unique_ptr<MulticastPort>> port =
        open_verbs_port({.group = parse_address(group).value(), .interface = interface.value()}, directory);
    EXPECT_FALSE(port.is_ok());
    return port.is_ok() ? "" : port.status().message();
  }

  std::string directory_;
};

TEST_F(MulticastOverVerbs, ALibraryThatWasNotBuiltIsNamedWithTheRemedy) {
  const std::string why = why_not(directory_);
  expect_part(why, library());
  expect_part(why, "libibverbs-dev");
}

TEST_F(MulticastOverVerbs, ALibraryInstalledInTheFolderOfPrivateOnesIsFound) {
  std::filesystem::create_directory(directory_ + "/hocket");
  std::ofstream(directory_ + "/hocket/" + kVerbsLibrary) << "no library";
  expect_part(why_not(directory_), "can't load " + directory_ + "/hocket/" + kVerbsLibrary);
}

TEST_F(MulticastOverVerbs, ALibraryThatCannotBeLoadedIsNamedWithTheReason) {
  std::ofstream(library()) << "no library";
  const std::string why = why_not(directory_);
  expect_part(why, library());
  expect_part(why, "file too short");
  expect_part(why, "libibverbs1");
}

TEST_F(MulticastOverVerbs, ALibraryOfAnotherVersionIsRefused) {
  Dl_info libc{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc), 0);
  std::filesystem::create_symlink(libc.dli_fname, library());
  expect_part(why_not(directory_), "another version of hocket");
}

#ifdef HOCKET_VERBS_DIRECTORY
TEST_F(MulticastOverVerbs, AnInterfaceWithoutADeviceIsRefusedByName) {
  const std::string why = why_not(HOCKET_VERBS_DIRECTORY);
  expect_part(why, "no RDMA device");
  expect_part(why, "rdma link add rxe0 type rxe netdev lo");
}

TEST_F(MulticastOverVerbs, AGroupOfIpv6IsRefused) {
  expect_part(why_not(HOCKET_VERBS_DIRECTORY, "[ff15::1]:5000"), "groups of IPv4 only, not [ff15::1]:5000");
}
#endif

}  // namespace
}  // namespace hocket::engines::multicast
