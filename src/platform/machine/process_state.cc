// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/process_state.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace hocket::platform {
namespace {

struct NamedCall {
  long number;
  const char* name;
};

// In which processes of parallel programs are found waiting.
constexpr NamedCall kCalls[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_futex, "futex"},
    {SYS_wait4, "wait4"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_flock, "flock"},
    {SYS_fsync, "fsync"},
    {SYS_openat, "openat"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_restart_syscall, "a system call that was interrupted"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
#endif
};

// "": it runs, or others may not know.
std::string system_call_of(int process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/syscall");
  std::string line;
  std::getline(in, line);
  char* end = nullptr;
  const long number = std::strtol(line.c_str(), &end, 10);
  if (end == line.c_str() || number < 0) return {};
  const auto found =
      std::find_if(std::begin(kCalls), std::end(kCalls), [&](const NamedCall& one) { return one.number == number; });
  return found != std::end(kCalls) ? found->name : "system call " + std::to_string(number);
}

int swapped_percent_of(int process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  uint64_t here = 0, swapped = 0;
  for (std::string line; std::getline(in, line);) {
    const auto is = [&line](std::string_view name) { return line.starts_with(name); };
    if (is("VmRSS:")) here = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    if (is("VmSwap:")) swapped = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
  }
  return swapped == 0 ? 0 : static_cast<int>(100 * swapped / (here + swapped));
}

ProcessState::Kind kind_of(char letter) {
  switch (letter) {
    case 'R':
      return ProcessState::Kind::kRuns;
    case 'S':
    case 'I':
      return ProcessState::Kind::kSleeps;
    case 'D':
      return ProcessState::Kind::kBlocked;
    case 'T':
    case 't':
      return ProcessState::Kind::kStopped;
    case 'Z':
    case 'X':
      return ProcessState::Kind::kEnded;
    default:
      return ProcessState::Kind::kUnknown;
  }
}

}  // namespace

ProcessState state_of(int process) {
  const std::optional<ProcessStat> stat = stat_of_process(process);
  return stat ? state_of(process, *stat) : ProcessState();
}

ProcessState state_of(int process, const ProcessStat& stat) {
  ProcessState state;
  state.kind = kind_of(stat.state);
  if (state.kind == ProcessState::Kind::kSleeps || state.kind == ProcessState::Kind::kBlocked)
    state.call = system_call_of(process);
  if (state.kind != ProcessState::Kind::kUnknown && state.kind != ProcessState::Kind::kEnded)
    state.swapped_percent = swapped_percent_of(process);
  return state;
}

std::string describe(const ProcessState& state) {
  const std::string where = state.call.empty() ? "in a system call" : "in " + state.call;
  // Less is of no account: nobody touches it.
  constexpr int kOfAccount = 10;
  const std::string memory = state.swapped_percent < kOfAccount
                                 ? ""
                                 : ", with " + std::to_string(state.swapped_percent) + " % of its memory in swap";
  switch (state.kind) {
    case ProcessState::Kind::kRuns:
      return "runs" + memory;
    case ProcessState::Kind::kSleeps:
      return "sleeps " + where + memory;
    case ProcessState::Kind::kBlocked:
      return "is blocked " + where + memory;
    case ProcessState::Kind::kStopped:
      return "is stopped" + memory;
    case ProcessState::Kind::kEnded:
      return "has ended";
    case ProcessState::Kind::kUnknown:
      break;
  }
  return {};
}

}  // namespace hocket::platform
