// SPDX-License-Identifier: BSD-3-Clause
// What `hocket run` was asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::command {

// Exit codes as shells and timeout(1) have them.
inline constexpr int kTimedOut = 124;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalled = 128;  // and the signal's number

struct RunOptions {
  int ranks = 0;
  bool label = false;
  bool bind = false;
  double timeout_s = 0;  // 0: none
  double grace_s = 5;    // between asking to end and ending
  std::vector<std::string> command;
};

}  // namespace hocket::command
