// SPDX-License-Identifier: BSD-3-Clause
// What a process of this machine is doing, as the kernel tells it in /proc.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "platform/machine/process_stat.h"

namespace hocket::platform {

struct ProcessState {
  enum class Kind {
    kUnknown,  // there is no such process here, or /proc doesn't tell
    kRuns,     // on a core, or ready to
    kSleeps,   // in a system call
    kBlocked,  // in one that can't be interrupted: a device or a file system doesn't answer
    kStopped,  // by a signal or a debugger
    kEnded,    // and its parent has not asked how yet
  };
  Kind kind = Kind::kUnknown;
  std::string call;         // of one that sleeps or is blocked: "read", "system call 42"; "": the kernel doesn't tell
  int swapped_percent = 0;  // of the memory that it has touched
};

ProcessState state_of(int process);
// The same where its `stat` has been read.
ProcessState state_of(int process, const ProcessStat& stat);
// "runs", "sleeps in read", "is stopped, with 40 % of its memory in swap"; "" where it is unknown.
std::string describe(const ProcessState& state);

}  // namespace hocket::platform
