// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/launch_line.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hocket::lab {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text = " ";
  for (const std::string& word : words) text += word + " ";
  return text;
}

Launch launch_of(MpiKind kind) {
  Launch launch;
  launch.kind = kind;
  launch.launcher = "launcher";
  launch.agent = "/lab/agent";
  launch.nodes = 2;
  launch.ranks = 4;
  launch.ranks_per_node = 2;
  launch.program = {"./app", "-n", "two words"};
  return launch;
}

constexpr MpiKind kKinds[] = {MpiKind::kMpich, MpiKind::kIntel, MpiKind::kOpenMpi4, MpiKind::kOpenMpi5};

TEST(LaunchLine, EndsWithTheProgramAndItsArguments) {
  for (const MpiKind kind : kKinds) {
    const Launch launch = launch_of(kind);
    const std::vector<std::string> line = launch_line(launch);
    EXPECT_EQ(line.front(), "launcher");
    ASSERT_GT(line.size(), launch.program.size());
    EXPECT_TRUE(std::equal(launch.program.rbegin(), launch.program.rend(), line.rbegin()));
  }
}

TEST(LaunchLine, NamesAgentNodesAndRanks) {
  for (const MpiKind kind : kKinds) {
    const std::string line = joined(launch_line(launch_of(kind)));
    EXPECT_NE(line.find(" /lab/agent "), std::string::npos) << line;
    EXPECT_NE(line.find(" -n 4 "), std::string::npos) << line;
    EXPECT_NE(line.find("n0"), std::string::npos) << line;
    EXPECT_NE(line.find("n1"), std::string::npos) << line;
  }
}

TEST(LaunchLine, YieldsOnlyWhereRanksOutnumberCores) {
  const char* const words[] = {"PROGRESS_THROTTLE 1", "I_MPI_THREAD_YIELD 2", "mpi_yield_when_idle 1",
                               "mpi_yield_when_idle 1"};
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    Launch launch = launch_of(kKinds[i]);
    EXPECT_EQ(joined(launch_line(launch)).find(words[i]), std::string::npos);
    launch.has_more_ranks_than_cores = true;
    EXPECT_NE(joined(launch_line(launch)).find(words[i]), std::string::npos);
  }
}

TEST(LaunchLine, MapsByNodeWhereAsked) {
  for (const MpiKind kind : kKinds) {
    Launch launch = launch_of(kind);
    const std::string block = joined(launch_line(launch));
    launch.mapping = Mapping::kCyclic;
    const std::string cyclic = joined(launch_line(launch));
    const bool is_hydra = kind == MpiKind::kMpich || kind == MpiKind::kIntel;
    EXPECT_NE(block.find(is_hydra ? " -ppn 2 " : " --map-by slot "), std::string::npos) << block;
    EXPECT_NE(cyclic.find(is_hydra ? " -ppn 1 " : " --map-by node "), std::string::npos) << cyclic;
  }
}

TEST(LaunchLine, GivesVariablesToTheRanksAndTheUsersOptionsLast) {
  for (const MpiKind kind : kKinds) {
    Launch launch = launch_of(kind);
    launch.variables = {{"LD_PRELOAD", "/lib/shim.so"}};
    launch.launcher_options = {"--mine"};
    const std::string line = joined(launch_line(launch));
    const bool is_hydra = kind == MpiKind::kMpich || kind == MpiKind::kIntel;
    EXPECT_NE(line.find(is_hydra ? "-genv LD_PRELOAD /lib/shim.so" : "-x LD_PRELOAD=/lib/shim.so"), std::string::npos);
    EXPECT_NE(line.find(" --mine ./app "), std::string::npos) << line;
  }
}

TEST(Placement, FillsEachNodeWithTheUsualNumber) {
  const Placement chosen = place({}, 4, 2).value();
  EXPECT_EQ(chosen.ranks, 8);
  EXPECT_EQ(chosen.ranks_per_node, 2);
}

TEST(Placement, MakesRoomForTheRanksThatWereAskedFor) {
  EXPECT_EQ(place({8, 0}, 4, 1).value().ranks_per_node, 2);
  EXPECT_EQ(place({9, 0}, 4, 1).value().ranks_per_node, 3);
  EXPECT_EQ(place({3, 0}, 4, 1).value().ranks_per_node, 1);
  EXPECT_EQ(place({0, 3}, 4, 1).value().ranks, 12);
}

TEST(Placement, RefusesWhatDoesNotFit) {
  const Result<Placement> refused = place({9, 2}, 4, 1);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(std::string(refused.status().message()).find("9 ranks"), std::string::npos);
}

}  // namespace
}  // namespace hocket::lab
