// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/borrowed_process.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/clock.h"

// clone() of the C library, past tools that catch it: the one that watches threads takes every process for fork()'s.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);  // NOLINT

namespace hocket::interposer {
namespace {

constexpr size_t kStackBytes = size_t{256} << 10;

struct Work {
  void (*work)(void*);
  void* argument;
  uint64_t end_ns;
};

// By the system's own calls: older C libraries have these functions in a library of their own. A timer is of one
// process, and its signal can be one that nothing holds up, unless a system call of the kernel's does.
bool end_process_at(uint64_t end_ns) {
  const uint64_t now = now_ns();
  if (now >= end_ns) return false;
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  int timer = 0;
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return false;
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>((end_ns - now) / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>((end_ns - now) % 1'000'000'000);
  return syscall(SYS_timer_settime, timer, 0, &when, nullptr) == 0;
}

// With all signals blocked: no handler of the program's runs in here.
int enter(void* argument) {
  const Work& work = *static_cast<const Work*>(argument);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Where the program ignores it, ended children are gone before they are waited for. Handlers are this process's own.
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, nullptr);
  if (!end_process_at(work.end_ns)) return 1;
#ifdef SYS_close_range
  // What it starts gets none of the program's descriptors. Older kernels have no such call.
  constexpr unsigned kCloseInPrograms = 4;  // CLOSE_RANGE_CLOEXEC
  syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, kCloseInPrograms);
#endif
  work.work(work.argument);
  return 0;
}

bool has_done(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, __WCLONE) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool run_in_borrowed_process(void (*work)(void*), void* argument, uint64_t end_ns) {
  void* const stack =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  Work all = {work, argument, end_ns};
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  // Without a signal at its end. This thread goes on when it has ended.
  const pid_t process = __clone(enter, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK, &all);
  const bool is_done = process > 0 && has_done(process);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // What was ended may be about to start a program, which still uses it.
  if (is_done || process < 0) munmap(stack, kStackBytes);
  return is_done;
}

}  // namespace hocket::interposer
