// SPDX-License-Identifier: BSD-3-Clause
// What `hocket run` was asked to do.
//
// Thread safety: a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hocket::command {

struct RunOptions {
  int ranks = 0;
  bool label = false;
  bool bind = false;
  double timeout_s = 0;  // 0: none
  double grace_s = 5;    // between asking to end and ending
  std::vector<std::string> command;
};

}  // namespace hocket::command
