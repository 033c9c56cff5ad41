// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/clock.h"

namespace hocket::log {
namespace {

class Log : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("HOCKET_LOG");
    forget();
  }
  static void forget() { internal::shown_level.store(internal::kUnread, std::memory_order_relaxed); }
  static std::string prefix() { return "hocket[" + std::to_string(getpid()) + "]: "; }
};

TEST_F(Log, ShowsWarningsButNotInfosByDefault) {
  unsetenv("HOCKET_LOG");
  forget();
  testing::internal::CaptureStderr();
  HOCKET_LOG_WARN("rank %d is late", 3);
  HOCKET_LOG_INFO("not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), prefix() + "warn: rank 3 is late\n");
}

TEST_F(Log, FollowsTheEnvironment) {
  setenv("HOCKET_LOG", "info", 1);
  forget();
  testing::internal::CaptureStderr();
  HOCKET_LOG_INFO("shown");
  HOCKET_LOG_DEBUG("not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), prefix() + "shown\n");
}

TEST_F(Log, ReportsABadLevelOnceAndGoesOn) {
  setenv("HOCKET_LOG", "loud", 1);
  forget();
  testing::internal::CaptureStderr();
  HOCKET_LOG_INFO("not shown");
  HOCKET_LOG_ERROR("shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            prefix() + "warn: HOCKET_LOG=loud can't be understood; accepted is one of error|warn|info|debug\n" +
                prefix() + "error: shown\n");
}

TEST_F(Log, DoesNotEvaluateWhatIsNotShown) {
  set_level(Level::kError);
  int evaluated = 0;
  HOCKET_LOG_DEBUG("%d", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST_F(Log, WritesOneLineWhateverTheMessage) {
  set_level(Level::kInfo);
  errno = EAGAIN;
  testing::internal::CaptureStderr();
  HOCKET_LOG_INFO("two\nlines %s", std::string(10000, 'x').c_str());
  EXPECT_EQ(errno, EAGAIN);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.size(), 4096u);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(Clock, NeverGoesBack) {
  uint64_t last = now_ns();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

// As a launcher that has ended leaves its ranks.
TEST_F(Log, NobodyWhoReadsItIsNoReasonToEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    errno = ENOENT;
    HOCKET_LOG_WARN("into the dark");
    if (errno != ENOENT) _exit(2);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    _exit(sigismember(&mask, SIGPIPE));
  }
  close(ends[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace hocket::log
