// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/timing/traced_call.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "communicator/ranks.h"

namespace hocket::communicator {
namespace {

constexpr uint32_t kTracedRanks = 3, kTracedCalls = 12, kLateRank = 1;

// In a process of its own, which traces for all its life.
[[noreturn]] void run_traced() {
  test::Network network(kTracedRanks, 1);
  run_ranks({.ranks = kTracedRanks, .ranks_a_node = kTracedRanks}, network, [](uint32_t rank, auto communicator) {
    communicator.value()->rename("all of them");
    for (uint32_t call = 0; call < kTracedCalls; ++call) {
      for (uint64_t since_ns = now_ns(); rank == kLateRank && now_ns() - since_ns < 300'000;) sched_yield();
      if (!communicator.value()->run(Arguments()).is_ok()) _exit(1);
    }
    if (!communicator.value()->close().is_ok()) _exit(1);
  });
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(TracedCalls, AreSlicesWithArrowsFromTheRankThatCameLast) {
  const std::string name = "/tmp/hocket-traced-call-test-" + std::to_string(getpid()) + ".json";
  const pid_t child = fork();
  if (child == 0) {
    setenv("HOCKET_TRACE", name.c_str(), 1);
    run_traced();
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  std::ifstream file(name);
  const nlohmann::json trace = nlohmann::json::parse(file);
  std::filesystem::remove(name);
  std::map<std::pair<uint64_t, uint64_t>, double> began;  // by the call's number and the rank
  std::map<std::string, std::pair<nlohmann::json, nlohmann::json>> arrows;
  for (const auto& event : trace["traceEvents"]) {
    if (event["name"] == "barrier") {
      began[{event["args"]["call"], event["tid"]}] = event["ts"];
      EXPECT_EQ(event["args"]["communicator name"], "all of them");
    }
    if (event["ph"] == "s") arrows[event["id"]].first = event;
    if (event["ph"] == "f") arrows[event["id"]].second = event;
  }
  EXPECT_EQ(began.size(), kTracedRanks * kTracedCalls);
  ASSERT_FALSE(arrows.empty());
  for (const auto& [id, ends] : arrows) {
    const auto& [tail, head] = ends;
    ASSERT_TRUE(tail.contains("tid") && head.contains("tid")) << id << " has one end";
    EXPECT_NE(tail["tid"], head["tid"]);
    bool is_last = false;
    for (uint64_t call = 1; call <= kTracedCalls; ++call) {
      double last = 0;
      for (uint64_t thread = 1; thread <= kTracedRanks; ++thread) last = std::max(last, began[{call, thread}]);
      is_last = is_last || (began[{call, tail["tid"]}] == tail["ts"] && tail["ts"] == last);
    }
    EXPECT_TRUE(is_last) << id << " begins where no rank was the last to come";
  }
}

}  // namespace
}  // namespace hocket::communicator
