// SPDX-License-Identifier: BSD-3-Clause
#include "command/command.h"
namespace hocket::command {
void add_bench(CLI::App&, Invocation&) {}
void add_schedule(CLI::App&, Invocation&) {}
}  // namespace hocket::command
