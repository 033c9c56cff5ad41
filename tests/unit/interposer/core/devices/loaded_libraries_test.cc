// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/loaded_libraries.h"

#include <gtest/gtest.h>

#include <string>

namespace hocket::interposer {
namespace {

TEST(LoadedLibraries, AreFoundByTheBeginningOfTheirFileName) {
  LoadedLibraries libraries;
  EXPECT_EQ(libraries.find("libc.so"), nullptr) << "it has not looked yet";
  const void* const* const word = libraries.look();
  ASSERT_NE(word, nullptr);
  EXPECT_EQ(*word, nullptr) << "nothing has come since";
  const char* const path = libraries.find("libc.so");
  ASSERT_NE(path, nullptr);
  EXPECT_NE(std::string(path).find("/libc.so"), std::string::npos) << path;
  EXPECT_EQ(libraries.find("libof_nobody"), nullptr);
  libraries.let_go();
}

}  // namespace
}  // namespace hocket::interposer
