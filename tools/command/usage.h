// SPDX-License-Identifier: BSD-3-Clause
// What subcommands have in common that run another command, or themselves anew.
//
// Thread safety: the parser belongs to one thread.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hocket::command {

// Adds `command`, which the parser knows nothing of ("PROGRAM ..."), to the usage line of a subcommand's --help.
void show_command_in_usage(CLI::App& subcommand, std::string command);

// "" or what is wrong with a command that begins with an option: the parser takes what it doesn't know for the
// command's.
std::string unknown_option(const std::string& subcommand, const std::vector<std::string>& command);

// Adds the hidden option that the ranks of an MPI are started with (mpi_launch/on_mpi.h).
void add_inside_mpi(CLI::App& subcommand, std::string& inside);

}  // namespace hocket::command
