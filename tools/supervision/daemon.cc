// SPDX-License-Identifier: BSD-3-Clause
#include "supervision/daemon.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace hocket::supervision {

platform::Descriptor become_daemon(int writer, const char* name) {
  setsid();
  (void)!chdir("/");
  const int nothing = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  constexpr int kKept = 3;
  if (writer != kKept) dup2(writer, kKept);
  fcntl(kKept, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, kKept + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_NAME, name);
  return platform::Descriptor(kKept);
}

}  // namespace hocket::supervision
