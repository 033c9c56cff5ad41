// SPDX-License-Identifier: BSD-3-Clause
// What rank 0's environment decides for all ranks of a communicator: its forced choices and its table, as text. One
// line a forced collective, "allreduce ring"; then an empty line, then the table.
//
// Thread safety: pure, but for the environment, which is read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "selection/choice.h"

namespace hocket::communicator {

struct CommonSettings {
  selection::Table table;
  std::vector<std::pair<schedule::Collective, selection::Spec>> forced;
};

// This process's, as text.
Result<std::string> read_common_settings();
// What the text of rank 0 says.
Result<CommonSettings> parse_common_settings(const std::string& text, uint32_t cores = 1);

}  // namespace hocket::communicator
