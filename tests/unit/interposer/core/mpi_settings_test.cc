// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace hocket::interposer {
namespace {

constexpr const char* kYield = "OMPI_MCA_mpi_yield_when_idle";
constexpr const char* kThrottle = "MPIR_CVAR_CH4_PROGRESS_THROTTLE";
constexpr const char* kCount = "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT";
constexpr MpiFamily kOpenMpiOnly[] = {MpiFamily::kOpenMpi};
constexpr MpiFamily kMpichOnly[] = {MpiFamily::kMpich};

std::string value_of(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

class MpiSettingsTest : public testing::Test {
 protected:
  MpiSettingsTest() {
    for (const char* name : {kYield, kThrottle, kCount, "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "SLURM_STEP_TASKS_PER_NODE", "HOCKET_MPI_SETTINGS"})
      unsetenv(name);
  }
  ~MpiSettingsTest() override { settings_.withdraw(); }

  MpiSettings settings_;
};

TEST_F(MpiSettingsTest, SetsWhatLetsTheMpiYieldAndTakesItBack) {
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "100000", 1);
  settings_.set(kOpenMpiOnly);
  EXPECT_EQ(value_of(kYield), "1");
  EXPECT_EQ(value_of(kThrottle), "");
  settings_.withdraw();
  EXPECT_EQ(value_of(kYield), "");
}

TEST_F(MpiSettingsTest, LeavesAJobWithACoreARankAlone) {
  setenv("MPI_LOCALNRANKS", "1", 1);
  settings_.set(kMpichOnly);
  EXPECT_EQ(value_of(kThrottle), "");
}

TEST_F(MpiSettingsTest, LeavesAloneWhatNoLauncherTells) {
  settings_.set(kMpichOnly);
  EXPECT_EQ(value_of(kThrottle), "");
}

TEST_F(MpiSettingsTest, OneOfAFamilyThatTheUserHasSetKeepsTheOthersAway) {
  setenv("MPI_LOCALNRANKS", "100000", 1);
  setenv(kCount, "4096", 1);
  settings_.set(kMpichOnly);
  EXPECT_EQ(value_of(kThrottle), "");
  settings_.withdraw();
  EXPECT_EQ(value_of(kCount), "4096");
}

TEST_F(MpiSettingsTest, IsOffByASetting) {
  setenv("MPI_LOCALNRANKS", "100000", 1);
  setenv("HOCKET_MPI_SETTINGS", "0", 1);
  settings_.set(kMpichOnly);
  EXPECT_EQ(value_of(kThrottle), "");
}

TEST_F(MpiSettingsTest, TakesTheLaunchersWordForTheRanksOfTheNode) {
  EXPECT_EQ(ranks_on_this_node(), std::nullopt);
  setenv("SLURM_STEP_TASKS_PER_NODE", "2(x3),4", 1);
  EXPECT_EQ(ranks_on_this_node(), 4);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "7", 1);
  EXPECT_EQ(ranks_on_this_node(), 7);
  setenv("MPI_LOCALNRANKS", "eight", 1);
  EXPECT_EQ(ranks_on_this_node(), std::nullopt);
}

TEST(MostTasks, ReadsSlurmsNotation) {
  EXPECT_EQ(most_tasks("3"), 3);
  EXPECT_EQ(most_tasks("2(x2),1"), 2);
  EXPECT_EQ(most_tasks("1,16(x128)"), 16);
  EXPECT_EQ(most_tasks(""), std::nullopt);
  EXPECT_EQ(most_tasks("0"), std::nullopt);
  EXPECT_EQ(most_tasks("2,x"), std::nullopt);
}

}  // namespace
}  // namespace hocket::interposer
