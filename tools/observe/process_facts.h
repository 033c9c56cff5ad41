// SPDX-License-Identifier: BSD-3-Clause
// What /proc tells of a process beside its record.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/machine/process_state.h"
#include "platform/whereabouts/printable.h"

namespace hocket::observe {

struct ProcessFacts {
  bool is_there = false;  // else it has ended, and nothing else is known
  std::string program;
  uint32_t user = 0;
  double cpu_s = 0;      // of all its threads, since it was started
  uint64_t started = 0;  // by the kernel's clock: the number may come to belong to another process
  platform::ProcessState state;
};

ProcessFacts facts_of(int process);
// Nothing: there is no such process.
std::optional<uint32_t> user_of(int process);

using platform::printable;

}  // namespace hocket::observe
