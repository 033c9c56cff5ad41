// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_launch/output_of.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervision/cannot_run.h"

namespace hocket::command {
namespace {

constexpr uint64_t kTimeLimit_ns = 5 * kNanosecondsPerSecond;
constexpr size_t kMaxOutputBytes = 64 << 10;

[[noreturn]] void become(const std::vector<std::string>& command, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, STDIN_FILENO);
  // What is asked here is the program itself, not hocket in it.
  unsetenv("LD_PRELOAD");
  const std::vector<char*> arguments = supervision::argument_vector(command);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) become(command, ends[1]);
  close(ends[1]);
  std::string text;
  const uint64_t deadline = now_ns() + kTimeLimit_ns;
  while (child > 0 && text.size() < kMaxOutputBytes) {
    const uint64_t now = now_ns();
    pollfd ready{ends[0], POLLIN, 0};
    if (now >= deadline || poll(&ready, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) <= 0) break;
    char buffer[4096];
    const ssize_t bytes = read(ends[0], buffer, sizeof(buffer));
    if (bytes <= 0) break;
    text.append(buffer, static_cast<size_t>(bytes));
  }
  close(ends[0]);
  if (child > 0) {
    // Closed output usually means that it has ended; if it hasn't, it is of no use any more.
    if (waitpid(child, nullptr, WNOHANG) == 0) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  return text;
}

}  // namespace hocket::command
