// SPDX-License-Identifier: BSD-3-Clause
// Running a piece of a test in a process of its own.
#pragma once

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace hocket::platform {

// Starts a child that runs `body` and exits with what it gives. It dies with the test.
inline pid_t start_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(body());
  }
  return child;
}

// Exit status, or 1000 + the signal that ended it.
inline int end_of_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

inline int in_child(const std::function<int()>& body) { return end_of_child(start_child(body)); }

inline int open_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

}  // namespace hocket::platform
