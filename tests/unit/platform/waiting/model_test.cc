// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy on a modelled kernel (ranks_model.h), in scenarios drawn from seeds: 55 million events; with
// LONG_TESTS=1 thirty times as many. SEED=N tries one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "platform/sanitizer.h"
#include "platform/waiting/ranks_model.h"

namespace hocket::platform::model {
namespace {

constexpr int64_t kMs = 1'000'000;

#if defined(HOCKET_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr uint64_t kUsual = 40;
#else
constexpr uint64_t kUsual = 600;
#endif

struct Seeds {
  uint64_t first = 1;
  uint64_t last = kUsual;
};

Seeds seeds() {
  if (const char* one = std::getenv("SEED")) return {std::strtoull(one, nullptr, 0), std::strtoull(one, nullptr, 0)};
  const char* is_long = std::getenv("LONG_TESTS");
  return {1, is_long != nullptr && *is_long != '0' ? 30 * kUsual : kUsual};
}

// Work of some microseconds, ranks that are late by up to 40 ms, and foreign processes that start and end.
Scenario mixed(uint64_t seed) {
  Chance chance(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.cores = static_cast<uint32_t>(chance.between(1, 4));
  const int64_t most = chance.percent(60) ? std::max<int64_t>(2, scenario.cores) : 8;
  scenario.ranks = static_cast<uint32_t>(chance.between(2, most));
  scenario.has_short_slices = chance.percent(50);
  const int64_t phases = chance.between(50, 400);
  const auto late = static_cast<uint32_t>(chance.between(0, 3));
  const auto works = static_cast<uint32_t>(chance.between(0, 60));
  for (uint32_t rank = 0; rank < scenario.ranks; ++rank) {
    auto& own = scenario.phases.emplace_back();
    for (int64_t i = 0; i < phases; ++i) {
      const int64_t work_ns = chance.percent(works) ? chance.between(0, 20'000) : 20;
      own.push_back({work_ns, chance.percent(late) ? chance.between(kMs / 10, 40 * kMs) >> chance.between(0, 8) : 0});
    }
  }
  for (int64_t loads = chance.percent(40) ? chance.between(1, 2) : 0; loads > 0; --loads) {
    const int64_t begin_ns = chance.between(0, 5 * kMs);
    scenario.loads.push_back({begin_ns, begin_ns + chance.between(kMs, 40 * kMs)});
  }
  return scenario;
}

// Each wait sleeps, and ranks arrive within the time that a wake-up takes: in the middle of each other's steps.
Scenario parking(uint64_t seed) {
  Chance chance(seed);
  Scenario scenario;
  scenario.seed = seed;
  scenario.ranks = scenario.cores = static_cast<uint32_t>(chance.between(2, 4));
  scenario.spin_ns = scenario.yield_ns = 0;
  for (uint32_t rank = 0; rank < scenario.ranks; ++rank) {
    auto& own = scenario.phases.emplace_back();
    for (int i = 0; i < 300; ++i) own.push_back({chance.between(0, 70'000), 0});
  }
  return scenario;
}

Scenario in_library(Scenario scenario, int64_t awake_ns) {
  scenario.in_library = true;
  scenario.spin_ns = awake_ns;
  return scenario;
}

Scenario mutated(Scenario scenario, Mutation mutation) {
  scenario.mutation = mutation;
  return scenario;
}

std::string words(const Scenario& scenario) {
  return "SEED=" + std::to_string(scenario.seed) + ": " + std::to_string(scenario.ranks) + " ranks on " +
         std::to_string(scenario.cores) + " cores, " + std::to_string(scenario.loads.size()) + " loads";
}

// Compared with a job whose ranks wait at no cost: ski rental's factor of two, the cost of waking for each sleep, in
// each phase the yields among ranks of one core, and a few time slices for each foreign process.
bool takes_too_long(const Scenario& scenario, const Outcome& outcome) {
  constexpr int64_t kWakingNs = 100'000;
  constexpr int64_t kYieldNs = 500;
  constexpr int64_t kSlicesNs = 25 * kMs;
  const int64_t turns = scenario.ranks > scenario.cores ? (scenario.ranks + scenario.cores - 1) / scenario.cores : 0;
  Scenario oracle = mutated(scenario, Mutation::kNone);
  oracle.is_oracle = true;
  return outcome.end_ns > 2 * run(oracle).end_ns + static_cast<int64_t>(outcome.sleeps) * kWakingNs +
                              static_cast<int64_t>(scenario.phases[0].size()) * turns * kYieldNs +
                              static_cast<int64_t>(scenario.loads.size()) * kSlicesNs;
}

TEST(WaitingModel, LosesNoWakeUpAndKeepsNoStateWithoutReason) {
  uint64_t events = 0;
  uint64_t compared = 0;
  uint64_t moves = 0;
  for (auto [seed, last] = seeds(); seed <= last; ++seed) {
    const Scenario scenario = mixed(seed);
    const Outcome outcome = run(scenario);
    ASSERT_EQ(outcome.trouble, "") << words(scenario);
    ASSERT_FALSE(takes_too_long(scenario, outcome)) << words(scenario);
    events += outcome.events;
    compared += outcome.compared;
    moves += outcome.moves;
  }
  RecordProperty("events", std::to_string(events));
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("moves", std::to_string(moves));
}

TEST(WaitingModel, LosesNoWakeUpWhereEachWaitSleeps) {
  uint64_t sleeps = 0;
  for (auto [seed, last] = seeds(); seed <= last; ++seed) {
    const Scenario scenario = parking(seed);
    const Outcome outcome = run(scenario);
    ASSERT_EQ(outcome.trouble, "") << words(scenario);
    sleeps += outcome.sleeps;
  }
  RecordProperty("sleeps", std::to_string(sleeps));
}

TEST(WaitingModel, LosesNoRingInALibrary) {
  uint64_t sleeps = 0;
  for (auto [seed, last] = seeds(); seed <= last; ++seed) {
    for (const Scenario& scenario : {in_library(mixed(seed), 3 * kMs), in_library(parking(seed), 0)}) {
      const Outcome outcome = run(scenario);
      ASSERT_EQ(outcome.trouble, "") << words(scenario);
      ASSERT_FALSE(scenario.spin_ns != 0 && takes_too_long(scenario, outcome)) << words(scenario);
      sleeps += outcome.sleeps;
    }
  }
  RecordProperty("sleeps", std::to_string(sleeps));
}

// The next four show that the model detects what it is there for.
constexpr uint64_t kMost = 1000;

TEST(WaitingModel, FindsALostWakeUp) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kMost && found == 0; ++seed)
    if (run(mutated(parking(seed), Mutation::kNoSecondLook)).trouble.ends_with("a wake-up was lost")) found = seed;
  EXPECT_NE(found, 0U) << "in " << kMost << " scenarios";
  RecordProperty("seed", std::to_string(found));
}

TEST(WaitingModel, FindsALostRing) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kMost && found == 0; ++seed)
    if (run(mutated(in_library(parking(seed), 0), Mutation::kNoSecondLook)).trouble.ends_with("a wake-up was lost"))
      found = seed;
  EXPECT_NE(found, 0U) << "in " << kMost << " scenarios";
  RecordProperty("seed", std::to_string(found));
}

TEST(WaitingModel, FindsAPenaltyWithoutAnEnd) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kMost && found == 0; ++seed)
    if (run(mutated(mixed(seed), Mutation::kEndlessPenalty)).trouble.ends_with("a state was kept without a reason"))
      found = seed;
  EXPECT_NE(found, 0U) << "in " << kMost << " scenarios";
  RecordProperty("seed", std::to_string(found));
}

TEST(WaitingModel, FindsRanksThatShareACoreWhileAnotherIsIdle) {
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= kMost && found == 0; ++seed)
    if (const Scenario scenario = mutated(mixed(seed), Mutation::kStaysWithPeers);
        takes_too_long(scenario, run(scenario)))
      found = seed;
  EXPECT_NE(found, 0U) << "in " << kMost << " scenarios";
  RecordProperty("seed", std::to_string(found));
}

// 3 % of a core, on as many cores as ranks and on fewer.
TEST(WaitingModel, SecondsOfWaitingTakeLittleProcessorTime) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const auto& [ranks, is_library] : {std::pair{2U, false}, {8U, false}, {2U, true}, {8U, true}}) {
      Scenario scenario;
      if (is_library) scenario = in_library(scenario, 3 * kMs);
      scenario.seed = seed;
      scenario.ranks = ranks;
      scenario.phases.assign(ranks, {{20, 0}, {20, 0}});
      scenario.phases[0][1].late_ns = 1000 * kMs;
      const Outcome outcome = run(scenario);
      ASSERT_EQ(outcome.trouble, "") << words(scenario);
      for (const int64_t processor_ns : outcome.processor_ns) EXPECT_LE(processor_ns, 30 * kMs) << words(scenario);
    }
  }
}

}  // namespace
}  // namespace hocket::platform::model
