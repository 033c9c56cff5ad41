// SPDX-License-Identifier: BSD-3-Clause
// What another program prints.
//
// Thread safety: for processes with one thread.
#pragma once

#include <string>
#include <vector>

namespace hocket::command {

// stdout and stderr together, at most 64 KiB of them; what was printed before it is killed if it takes longer than
// five seconds. "" if it can't be run.
std::string output_of(const std::vector<std::string>& command);

}  // namespace hocket::command
