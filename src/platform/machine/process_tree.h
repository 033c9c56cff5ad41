// SPDX-License-Identifier: BSD-3-Clause
// The processes that descend from this one, or from another, however they were started: for callers that must leave
// none of them behind.
//
// Process groups and sessions don't show them, because programs make their own. A process that adopts orphans stays an
// ancestor of everything that its children start, even of daemons.
//
// Thread safety: any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::platform {

struct ProcessEntry {
  pid_t process = 0;
  pid_t parent = 0;
  uint64_t started = 0;  // in the kernel's clock ticks: with `process`, names a process for good
};

// From here on a process whose parent ends becomes this process's child, if it descends from it. False where the kernel
// refuses.
bool adopt_orphans();

// Those that have not ended, at about this moment; empty where /proc can't be read. Processes that are forked meanwhile
// may be missing: a caller that wants all of them dead repeats until it has no child left.
std::vector<ProcessEntry> descendants();
std::vector<ProcessEntry> descendants_of(pid_t process);

// Gives the signal to each, and to no other process that has got its number since. How many there were.
size_t signal_descendants(int signal);

}  // namespace hocket::platform
