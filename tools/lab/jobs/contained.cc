// SPDX-License-Identifier: BSD-3-Clause
#include "lab/jobs/contained.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "platform/descriptor.h"
#include "supervision/exit_codes.h"
#include "supervision/output.h"
#include "supervision/signals.h"

namespace hocket::lab {
namespace {

using platform::Descriptor;
using supervision::Interruption;
using supervision::kSignalled;
using supervision::Output;
using supervision::Signals;

constexpr int kFailure = 1;

int complain(const std::string& text) {
  std::fprintf(stderr, "hocket: %s\n", text.c_str());
  return kFailure;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status); }

// The first process of the namespace.
class Init {
 public:
  Init(const std::vector<ContainedProcess>& processes, const Signals& signals, Descriptor control)
      : processes_(processes), signals_(signals), control_(std::move(control)) {}

  int run() {
    sigset_t received;
    sigemptyset(&received);
    sigaddset(&received, SIGCHLD);
    signal_file_ = Descriptor(signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK));
    if (signal_file_.get() < 0) return complain(std::string("can't watch for signals: ") + std::strerror(errno));
    for (const ContainedProcess& process : processes_) {
      if (const int error = start(process); error != 0)
        return complain(std::string("can't start a process: ") + std::strerror(error));
    }
    while (!running_.empty()) turn();
    kill(-1, SIGKILL);  // what they have left behind; it holds pipes of ours
    output_.finish();
    while (!output_.is_empty()) wait();
    return result_;
  }

 private:
  int start(const ContainedProcess& process) {
    Descriptor writes[2];
    for (int i = 0; !process.label.empty() && i < 2; ++i) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) return errno;
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      output_.add(Descriptor(ends[0]), i == 0 ? STDOUT_FILENO : STDERR_FILENO, process.label);
      writes[i] = Descriptor(ends[1]);
    }
    const pid_t child = fork();
    if (child < 0) return errno;
    if (child > 0) {
      running_.push_back(child);
      return 0;
    }
    if (!process.label.empty()) {
      if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, STDIN_FILENO);
      dup2(writes[0].get(), STDOUT_FILENO);
      dup2(writes[1].get(), STDERR_FILENO);
    }
    signals_.restore();
    _exit(process.main());
  }

  void turn() {
    wait();
    Interruption interruption;
    while (recv(control_.get(), &interruption, sizeof interruption, MSG_DONTWAIT) == sizeof interruption) {
      for (const pid_t process : running_) {
        if (!interruption.from_terminal) kill(process, interruption.signal);
      }
    }
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (std::erase(running_, ended) == 0) continue;  // an orphan of another process
      if (result_ == 0) result_ = code_of(status);
    }
  }

  // For news of any kind; lines are passed on.
  void wait() {
    std::vector<pollfd> watched = {{signal_file_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
    output_.watch(watched);
    poll(watched.data(), watched.size(), -1);
    signalfd_siginfo news;
    while (read(signal_file_.get(), &news, sizeof news) == sizeof news) continue;
    output_.pump();
    // No process reads what they say: they would not notice that at a pipe of ours.
    if (output_.is_lost() && !running_.empty()) {
      for (const pid_t process : running_) kill(process, SIGPIPE);
    }
  }

  const std::vector<ContainedProcess>& processes_;
  const Signals& signals_;
  Descriptor control_;
  Descriptor signal_file_;
  Output output_;
  std::vector<pid_t> running_;
  int result_ = 0;
};

// Until the namespace is empty. Signals of the command go to its processes.
int watch_over(pid_t init, const Signals& signals, const Descriptor& control, double grace_s) {
  int interrupted_by = 0;
  uint64_t kill_at_ns = UINT64_MAX;
  for (;;) {
    timespec pause{3600, 0};
    if (interrupted_by != 0) pause = {0, 50'000'000};
    siginfo_t news{};
    const int signal = sigtimedwait(&signals.waited(), &news, &pause);
    if (signal > 0 && signal != SIGCHLD) {
      const Interruption interruption{signal, news.si_code == SI_KERNEL};
      (void)send(control.get(), &interruption, sizeof interruption, MSG_NOSIGNAL | MSG_DONTWAIT);
      kill_at_ns = interrupted_by != 0 ? 0 : now_ns() + static_cast<uint64_t>(grace_s * 1e9);
      interrupted_by = signal;
    }
    if (now_ns() >= kill_at_ns) kill(init, SIGKILL);
    int status = 0;
    if (waitpid(init, &status, WNOHANG) != init) continue;
    return interrupted_by != 0 ? kSignalled + interrupted_by : code_of(status);
  }
}

}  // namespace

int run_contained(const std::vector<ContainedProcess>& processes, double grace_s) {
  const Signals signals;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return complain(std::string("can't make a socket: ") + std::strerror(errno));
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  if (unshare(CLONE_NEWPID) != 0)
    return complain(std::string("can't make a namespace for the processes: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t init = fork();
  if (init < 0) return complain(std::string("can't start a process: ") + std::strerror(errno));
  if (init == 0) {
    ours.reset();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "lab-job");
    // If the command has ended before that, no signal came: its end of the socket is closed.
    char nothing = 0;
    if (recv(theirs.get(), &nothing, 1, MSG_PEEK | MSG_DONTWAIT) == 0) _exit(kFailure);
    const int code = Init(processes, signals, std::move(theirs)).run();
    std::fflush(nullptr);
    _exit(code);
  }
  theirs.reset();
  return watch_over(init, signals, ours, grace_s);
}

}  // namespace hocket::lab
