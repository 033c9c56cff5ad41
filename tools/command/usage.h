// SPDX-License-Identifier: BSD-3-Clause
// What --help says of a command that runs another.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace hocket::command {

// Adds `command`, which the parser knows nothing of ("PROGRAM ..."), to the usage line of a subcommand's --help.
void show_command_in_usage(CLI::App& subcommand, std::string command);

}  // namespace hocket::command
