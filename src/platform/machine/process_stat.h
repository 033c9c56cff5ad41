// SPDX-License-Identifier: BSD-3-Clause
// What /proc/PID/stat tells of a process, read in one place: the program's name stands in the middle of the line, and
// may hold anything that looks like the fields around it.
//
// Thread safety: any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket::platform {

struct ProcessStat {
  std::string name;  // at most 15 bytes, which may be any
  char state = '?';  // the kernel's letter
  pid_t parent = 0;
  uint64_t user_ticks = 0, system_ticks = 0;  // on processors, all its threads, in clock ticks
  int threads = 0;
  uint64_t started = 0;  // in clock ticks: with the process's number, it names a process for good

  // It has ended, and its parent has not asked how yet; where only the first thread has ended the others go on.
  bool is_over() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

// Nothing: it is no such line, or not all of it.
std::optional<ProcessStat> parse_process_stat(std::string_view line);
// Nothing: there is no such process, or it ended while it was looked at.
std::optional<ProcessStat> stat_of_process(pid_t process);

}  // namespace hocket::platform
