// SPDX-License-Identifier: BSD-3-Clause
// The states of waits in another library.
#include <gtest/gtest.h>

#include "platform/waiting/wait_state.h"

namespace hocket::platform {
namespace {

constexpr int64_t kMs = 1'000'000;

WaitPolicy in_library() {
  WaitPolicy policy;
  policy.spin_ns = kAwakeInLibraryNs;
  policy.library = {.is_polled = true, .looks_between_sleeps = kLibraryPollsBetweenSleeps};
  return policy;
}

// Returns the number of steps before the next observation.
uint32_t steps_until_observed(WaitState& state, WaitStep expected) {
  uint32_t steps = 0;
  for (WaitStep step = state.step(false); step != WaitStep::kObserve; step = state.step(false), ++steps)
    EXPECT_EQ(step, expected);
  return steps;
}

TEST(WaitInALibrary, LooksAtOnceWhereItHasACore) {
  const WaitPolicy policy = in_library();
  WaitState state(policy);
  state.start();
  for (int64_t now_ns = 1; now_ns < 3 * kMs; now_ns += kMs) {
    EXPECT_EQ(steps_until_observed(state, WaitStep::kLook), WaitState::kLibraryPollsPerObservation - 1);
    EXPECT_EQ(state.observe({.now_ns = now_ns}), WaitStep::kLook);
  }
}

TEST(WaitInALibrary, SleepsOnceNothingHasComeForLong) {
  const WaitPolicy policy = in_library();
  WaitState state(policy);
  state.start();
  EXPECT_EQ(state.observe({.now_ns = kMs}), WaitStep::kLook);
  EXPECT_EQ(state.observe({.now_ns = 4 * kMs}), WaitStep::kSleep);
  EXPECT_EQ(state.idle_ns(), 3 * kMs);
  steps_until_observed(state, WaitStep::kLook);
  EXPECT_EQ(steps_until_observed(state, WaitStep::kLook), policy.library.looks_between_sleeps - 1);
  EXPECT_EQ(state.observe({.now_ns = 5 * kMs}), WaitStep::kSleep);
  EXPECT_EQ(state.observe({.now_ns = 6 * kMs, .is_wanted = true}), WaitStep::kLook) << "a peer has rung";
  EXPECT_EQ(state.observe({.now_ns = 7 * kMs}), WaitStep::kSleep) << "and needs it no more";
  EXPECT_EQ(state.observe({.now_ns = 8 * kMs, .has_worked = true}), WaitStep::kLook) << "something has come";
  EXPECT_EQ(state.observe({.now_ns = 10 * kMs}), WaitStep::kLook);
  EXPECT_EQ(state.observe({.now_ns = 11 * kMs}), WaitStep::kSleep);
}

TEST(WaitInALibrary, YieldsWhereRanksShareCoresAndTheLibraryDoesNot) {
  WaitPolicy policy = in_library();
  policy.oversubscribed = true;
  policy.library.looks_before_yield = 16;
  WaitState state(policy);
  state.start();
  for (uint32_t look = 0; look < 32; ++look)
    EXPECT_EQ(state.step(false), look < 16 ? WaitStep::kLook : WaitStep::kYield) << look;
  policy.library.yields = true;
  state.start();
  steps_until_observed(state, WaitStep::kLook);
}

TEST(WaitInALibrary, YieldsToAPeerOnItsCoreAndMovesNowAndThen) {
  const WaitPolicy policy = in_library();
  WaitState state(policy);
  state.start();
  EXPECT_EQ(state.observe({.now_ns = kMs, .has_peer_here = true}), WaitStep::kMove);
  EXPECT_EQ(state.observe({.now_ns = kMs, .has_peer_here = true}), WaitStep::kYield) << "there is no other core";
  EXPECT_EQ(state.step(false), WaitStep::kObserve) << "before the next yield";
  EXPECT_EQ(state.observe({.now_ns = kMs + 1, .has_peer_here = true}), WaitStep::kYield);
  state.start();
  EXPECT_EQ(state.step(false), WaitStep::kObserve) << "the next wait is not the first to find out";
  EXPECT_EQ(state.observe({.now_ns = 2 * kMs, .has_peer_here = true}), WaitStep::kMove);
  EXPECT_EQ(state.observe({.now_ns = 2 * kMs}), WaitStep::kLook);
  EXPECT_EQ(steps_until_observed(state, WaitStep::kLook) % WaitState::kLibraryPollsPerObservation,
            WaitState::kLibraryPollsPerObservation - 2);
}

TEST(WaitInALibrary, NeverSleepsNorMovesInModesSpinAndYield) {
  for (const WaitMode mode : {WaitMode::kSpin, WaitMode::kYield}) {
    WaitPolicy policy = in_library();
    policy.mode = mode;
    WaitState state(policy);
    state.start();
    const WaitStep step = mode == WaitMode::kSpin ? WaitStep::kLook : WaitStep::kYield;
    for (int64_t now_ns = 1; now_ns < 100 * kMs; now_ns += 10 * kMs) {
      steps_until_observed(state, step);
      EXPECT_EQ(state.observe({.now_ns = now_ns, .has_peer_here = true}), step);
    }
  }
}

}  // namespace
}  // namespace hocket::platform
