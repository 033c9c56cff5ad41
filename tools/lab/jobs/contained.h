// SPDX-License-Identifier: BSD-3-Clause
// Processes of which nothing is left when they have ended or the process that started them has, however that came
// about.
//
// They live in a process namespace of their own. Its first process starts them and dies with the command that people
// see; when it dies the kernel kills whatever else is in the namespace, daemons and processes in other nodes too.
//
// Thread safety: one thread, and one job a process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/lab.h"

namespace hocket::lab {

struct ContainedProcess {
  // What it does in the child; its exit code, unless it becomes another program.
  std::function<int()> main;
  // In front of each line that it writes. "": its streams are the command's own.
  std::string label;
};

// Starts all of them and returns when they have ended: 0, or the exit code of the first that failed, or 128 and the
// number of the signal that ended the command. Signals are passed on; after `grace_s`, or at a second one, all are
// killed.
int run_contained(const std::vector<ContainedProcess>& processes, double grace_s);

}  // namespace hocket::lab
