// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/common_settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace hocket::communicator {
namespace {

using schedule::Collective;

class CommonSettingsOfRankZero : public testing::Test {
 protected:
  ~CommonSettingsOfRankZero() override {
    for (const char* name : {"HOCKET_ALLREDUCE", "HOCKET_BARRIER", "HOCKET_TABLE"}) unsetenv(name);
    std::remove(table_.c_str());
  }
  void write_table(const std::string& text) {
    std::ofstream(table_) << text;
    setenv("HOCKET_TABLE", table_.c_str(), 1);
  }
  static std::string refusal() {
    const auto text = read_common_settings();
    return text.is_ok() ? "" : text.status().message();
  }
  const std::string table_ = testing::TempDir() + "common_settings_" + std::to_string(getpid()) + ".table";
};

TEST_F(CommonSettingsOfRankZero, AreTheShippedTableAndNothingForced) {
  const auto text = read_common_settings();
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  EXPECT_EQ(text.value(), "\n");
  const auto settings = parse_common_settings(text.value());
  ASSERT_TRUE(settings.is_ok()) << settings.status().message();
  EXPECT_TRUE(settings.value().forced.empty());
  EXPECT_EQ(settings.value().table.rules().size(), selection::Table::shipped().rules().size());
}

TEST_F(CommonSettingsOfRankZero, ComeToAllAsTheyWereWritten) {
  setenv("HOCKET_ALLREDUCE", "ring", 1);
  setenv("HOCKET_BARRIER", "tree:degree=3", 1);
  write_table("hocket-table 1\nallreduce bytes=..4K direct\nbarrier signal\n");
  const auto text = read_common_settings();
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  const auto settings = parse_common_settings(text.value());
  ASSERT_TRUE(settings.is_ok()) << settings.status().message();
  const auto& forced = settings.value().forced;
  ASSERT_EQ(forced.size(), 2u);
  EXPECT_EQ(forced[0].first, Collective::kBarrier);
  EXPECT_EQ(selection::to_text(forced[0].second), "tree:degree=3");
  EXPECT_EQ(forced[1].first, Collective::kAllreduce);
  EXPECT_EQ(selection::to_text(forced[1].second), "ring");
  ASSERT_EQ(settings.value().table.rules().size(), 2u);
  EXPECT_EQ(selection::to_text(settings.value().table.rules()[1].spec), "signal");
}

TEST_F(CommonSettingsOfRankZero, NameTheVariableThatCannotBeUnderstood) {
  setenv("HOCKET_ALLREDUCE", "rign", 1);
  EXPECT_EQ(refusal().rfind("HOCKET_ALLREDUCE=rign: ", 0), 0u) << refusal();
  unsetenv("HOCKET_ALLREDUCE");
  setenv("HOCKET_TABLE", "/nowhere/at.all", 1);
  EXPECT_NE(refusal().find("/nowhere/at.all"), std::string::npos) << refusal();
  write_table("hocket-table 1\nallreduce nonsense\n");
  EXPECT_NE(refusal().find(table_), std::string::npos) << refusal();
}

TEST_F(CommonSettingsOfRankZero, OfAnotherVersionAreRefused) {
  const auto unknown = parse_common_settings("somersault ring\n\n");
  ASSERT_FALSE(unknown.is_ok());
  EXPECT_STREQ(unknown.status().message(), "rank 0 runs another version of hocket");
  EXPECT_FALSE(parse_common_settings("allreduce somersault\n\n").is_ok());
  const auto table = parse_common_settings("\nhocket-table 99\n");
  ASSERT_FALSE(table.is_ok());
  EXPECT_NE(std::string(table.status().message()).find("HOCKET_TABLE of rank 0"), std::string::npos)
      << table.status().message();
}

}  // namespace
}  // namespace hocket::communicator
