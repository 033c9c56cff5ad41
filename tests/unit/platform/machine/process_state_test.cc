// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

namespace hocket::platform {
namespace {

using Kind = ProcessState::Kind;

class StateOfAProcess : public testing::Test {
 protected:
  void start(const std::function<void()>& body) {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    body();
    _exit(0);
  }
  // Processes take their time.
  Kind becomes(Kind wanted) const {
    for (int looks = 0; looks < 5000 && state_of(child_).kind != wanted; ++looks) usleep(1000);
    return state_of(child_).kind;
  }
  void end() {
    kill(child_, SIGKILL);
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOWAIT);
  }
  ~StateOfAProcess() override {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  pid_t child_ = 0;
};

TEST_F(StateOfAProcess, IsTheKernels) {
  start([] {
    for (;;) pause();
  });
  EXPECT_EQ(becomes(Kind::kSleeps), Kind::kSleeps);
  const std::string said = describe(state_of(child_));
  EXPECT_EQ(said.rfind("sleeps in ", 0), 0u) << said;
  kill(child_, SIGSTOP);
  EXPECT_EQ(becomes(Kind::kStopped), Kind::kStopped);
  EXPECT_EQ(describe(state_of(child_)), "is stopped");
  end();
  EXPECT_EQ(state_of(child_).kind, Kind::kEnded);
}

TEST_F(StateOfAProcess, OfOneThatComputes) {
  start([] {
    for (;;) std::atomic_signal_fence(std::memory_order_seq_cst);
  });
  EXPECT_EQ(becomes(Kind::kRuns), Kind::kRuns);
  EXPECT_EQ(describe(state_of(child_)), "runs");
}

TEST(StateOfNoProcess, IsUnknown) {
  EXPECT_EQ(state_of(0).kind, Kind::kUnknown);
  EXPECT_EQ(describe(state_of(0)), "");
}

TEST(StateInWords, TellsOfMemoryInSwapWhereThatIsOfAccount) {
  EXPECT_EQ(describe({.kind = Kind::kRuns, .call = {}, .swapped_percent = 9}), "runs");
  EXPECT_EQ(describe({.kind = Kind::kBlocked, .call = "read", .swapped_percent = 40}),
            "is blocked in read, with 40 % of its memory in swap");
}

}  // namespace
}  // namespace hocket::platform
