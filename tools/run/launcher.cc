// SPDX-License-Identifier: BSD-3-Clause
#include "run/launcher.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "platform/machine/process_tree.h"
#include "run/limits.h"
#include "run/supervisor.h"
#include "supervision/exit_codes.h"
#include "words/say.h"

namespace hocket::command {
namespace {

using platform::Descriptor;

// No pipe of ours may get the number of a stream that was closed before us.
void open_standard_streams() {
  int opened = 0;
  do {
    opened = open("/dev/null", O_RDWR);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) close(opened);
}

// Something has killed the supervisor, and the kernel the ranks with it. What they had started is ours now.
int end_what_is_left(int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL;
  std::fprintf(stderr, "hocket run: its supervising process was ended by %s; ending the ranks\n",
               supervision::signal_text(signal).c_str());
  constexpr int kMostPasses = 1000;
  constexpr timespec kPause{0, 10'000'000};
  for (int pass = 0; pass < kMostPasses; ++pass) {
    platform::signal_descendants(SIGKILL);
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    if (reaped < 0) break;
    nanosleep(&kPause, nullptr);
  }
  return supervision::kSignalled + signal;
}

int relay(const supervision::Signals& signals, pid_t supervisor, const Descriptor& control) {
  for (;;) {
    siginfo_t news{};
    const int signal = sigwaitinfo(&signals.waited(), &news);
    if (signal < 0) continue;  // stopped and continued, say
    if (signal != SIGCHLD) {
      const supervision::Interruption interruption{signal, news.si_code == SI_KERNEL};
      (void)send(control.get(), &interruption, sizeof interruption, MSG_NOSIGNAL | MSG_DONTWAIT);
      kill(supervisor, SIGCONT);  // it may have been stopped, and then no other signal reaches it
    }
    int status = 0;
    if (waitpid(supervisor, &status, WNOHANG) != supervisor) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : end_what_is_left(status);
  }
}

}  // namespace

int launch(const RunOptions& options) {
  open_standard_streams();
  DescriptorLimit descriptors;
  if (const std::string few = descriptors.raise(options); !few.empty()) return fail(kFailure, few);
  const supervision::Signals signals;
  platform::adopt_orphans();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(kFailure, std::string("can't make a socket: ") + std::strerror(errno));
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  std::fflush(nullptr);
  const pid_t supervisor = fork();
  if (supervisor < 0)
    return fail(kFailure, std::string("can't start the supervising process: ") + std::strerror(errno));
  if (supervisor == 0) {
    ours.reset();
    // Not the launcher's name: a user who kills by name means the launcher, and this one then ends the rest.
    prctl(PR_SET_NAME, "run-supervisor");
    // Stopped, it would not notice that the launcher has been killed.
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    const int code = Supervisor(options, signals, descriptors, std::move(theirs)).run();
    std::fflush(nullptr);
    _exit(code);
  }
  theirs.reset();
  return relay(signals, supervisor, ours);
}

}  // namespace hocket::command
