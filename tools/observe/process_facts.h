// SPDX-License-Identifier: BSD-3-Clause
// What /proc tells of a process beside its record.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "platform/machine/process_state.h"

namespace hocket::observe {

struct ProcessFacts {
  std::string program;  // "": there is no such process any more
  uint32_t user = 0;
  double cpu_s = 0;  // of all its threads, since it was started
  platform::ProcessState state;
};

ProcessFacts facts_of(int process);

// What may be shown on a terminal: another's text may hold what terminals take for commands.
std::string printable(std::string_view text);

}  // namespace hocket::observe
