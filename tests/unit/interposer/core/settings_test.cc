// SPDX-License-Identifier: BSD-3-Clause
#include "core/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hocket::interposer {
namespace {

class SettingsOfTheJob : public testing::Test {
 protected:
  ~SettingsOfTheJob() override {
    for (const char* name :
         {"HOCKET_SETUP_CALLS", "HOCKET_TAKEOVER_CALLS", "HOCKET_DISABLE", "HOCKET_STATS", "HOCKET_OTHER_JOBS"})
      unsetenv(name);
  }
};

TEST_F(SettingsOfTheJob, AreThoseOfTheEnvironment) {
  setenv("HOCKET_SETUP_CALLS", "7", 1);
  setenv("HOCKET_TAKEOVER_CALLS", "9", 1);
  setenv("HOCKET_DISABLE", "1", 1);
  setenv("HOCKET_STATS", "yes", 1);
  setenv("HOCKET_OTHER_JOBS", "hocket", 1);
  const Settings settings = read_settings();
  EXPECT_TRUE(is_sound(settings));
  EXPECT_EQ(settings.setup_calls, 7);
  EXPECT_EQ(settings.takeover_calls, 9);
  EXPECT_EQ(settings.disable, 1);
  EXPECT_EQ(settings.statistics, 1);
  EXPECT_EQ(settings.with_other_jobs, 1);
}

TEST_F(SettingsOfTheJob, AreTheDefaultsWhereTheyCannotBeUnderstood) {
  const Settings before = read_settings();
  setenv("HOCKET_SETUP_CALLS", "many", 1);
  setenv("HOCKET_DISABLE", "perhaps", 1);
  const Settings settings = read_settings();
  EXPECT_EQ(settings.setup_calls, before.setup_calls);
  EXPECT_EQ(settings.disable, 0);
}

TEST_F(SettingsOfTheJob, HaveTheSameDigestWhereRanksDecideAlike) {
  const Settings settings = read_settings();
  Settings other = settings;
  other.statistics = 1;
  EXPECT_EQ(digest_of(other), digest_of(settings));
  other = settings;
  other.takeover_calls = 100;
  EXPECT_NE(digest_of(other), digest_of(settings));
  other = settings;
  other.setup_calls = 9;
  EXPECT_EQ(digest_of(other), digest_of(settings)) << "those of several jobs are set up in their first call";
  other = settings;
  ++other.progress;
  EXPECT_NE(digest_of(other), digest_of(settings));
}

TEST_F(SettingsOfTheJob, OfAnotherVersionAreNotSound) {
  Settings settings = read_settings();
  ++settings.magic;
  EXPECT_FALSE(is_sound(settings));
  EXPECT_FALSE(is_sound(Settings{}));
}

}  // namespace
}  // namespace hocket::interposer
