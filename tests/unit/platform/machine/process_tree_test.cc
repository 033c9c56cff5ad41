// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "platform/child_process.h"

namespace hocket::platform {
namespace {

bool is_listed(pid_t process) {
  const auto all = descendants();
  return std::any_of(all.begin(), all.end(), [&](const ProcessEntry& entry) { return entry.process == process; });
}

// A child that starts a process of its own in a new session, tells its number and ends: an orphan is left.
pid_t leave_orphan() {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = start_child([&] {
    const pid_t orphan = fork();
    if (orphan == 0) {
      setsid();
      for (;;) pause();
    }
    return write(ends[1], &orphan, sizeof orphan) == sizeof orphan ? 0 : 1;
  });
  pid_t orphan = -1;
  if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) orphan = -1;
  end_of_child(child);
  close(ends[0]);
  close(ends[1]);
  return orphan;
}

TEST(ProcessTree, AnOrphanInASessionOfItsOwnIsFoundSignalledAndReaped) {
  const int result = in_child([] {
    if (!adopt_orphans()) return 1;
    const pid_t orphan = leave_orphan();
    if (orphan <= 0 || !is_listed(orphan)) return 2;
    if (signal_descendants(SIGKILL) != 1) return 3;
    int status = 0;
    if (waitpid(orphan, &status, 0) != orphan || !WIFSIGNALED(status)) return 4;
    if (is_listed(orphan) || waitpid(-1, &status, 0) != -1 || errno != ECHILD) return 5;
    return 0;
  });
  EXPECT_EQ(result, 0);
}

TEST(ProcessTree, GrandchildrenAreListedAndStrangersAreNot) {
  const pid_t stranger = start_child([] {
    for (;;) pause();
    return 0;
  });
  const int result = in_child([stranger] {
    const pid_t child = start_child([] {
      start_child([] {
        for (;;) pause();
        return 0;
      });
      for (;;) pause();
      return 0;
    });
    while (descendants().size() < 2) usleep(1000);
    if (!is_listed(child) || is_listed(stranger) || is_listed(getpid())) return 1;
    // The parent first: what it leaves behind is ended by the next pass.
    while (signal_descendants(SIGKILL) > 0) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    }
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(kill(stranger, 0), 0);
  kill(stranger, SIGKILL);
  EXPECT_EQ(end_of_child(stranger), 1000 + SIGKILL);
}

TEST(ProcessTree, WhoHasEndedIsNotListed) {
  const pid_t child = start_child([] { return 0; });
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_listed(child));
  EXPECT_EQ(end_of_child(child), 0);
}

}  // namespace
}  // namespace hocket::platform
