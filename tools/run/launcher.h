// SPDX-License-Identifier: BSD-3-Clause
// The process that people start as `hocket run`: passes signals on to the supervisor and ends with its exit code.
//
// Thread safety: for processes with one thread.
#pragma once

#include "run/options.h"

namespace hocket::command {

// The exit code of the command.
int launch(const RunOptions& options);

}  // namespace hocket::command
