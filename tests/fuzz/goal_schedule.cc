// SPDX-License-Identifier: BSD-3-Clause
// A schedule in GOAL comes from a file that anybody may have written: it is refused with a reason, or simulated to an
// end, or to where it stands still, which is then named.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulation/goal/loggops.h"

using namespace hocket::simulation;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const hocket::Result<Goal> goal = parse_goal(text, "input");
  if (!goal.is_ok()) {
    if (*goal.status().message() == 0) std::abort();
    return 0;
  }
  const hocket::Result<LogGops> parameters = parse_loggops("L=10,o=3,g=5,G=0.7,O=0.2,S=16");
  const hocket::Result<GoalTimes> times = simulate(goal.value(), parameters.value());
  if (!times.is_ok()) {
    if (*times.status().message() == 0) std::abort();
    return 0;
  }
  // All operations and messages had their turn.
  if (times.value().events != goal.value().operations.size() + times.value().messages) std::abort();
  if (times.value().finish_ns.size() != goal.value().ranks) std::abort();
  return 0;
}
