// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `hocket`: each file adds its own to the parser and says what to run once the line is read.
//
// Thread safety: one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "words/say.h"

namespace CLI {
class App;
}

namespace hocket::command {

struct Invocation {
  // What stands before the first "--": hocket's own arguments, for a command that starts itself anew.
  std::vector<std::string> own_arguments;
  // What stands after the first "--": a command line to run, not to be read by hocket.
  bool has_command = false;
  std::vector<std::string> command;
  // Set by the subcommand that was named; returns the exit code.
  std::function<int()> run;
};

void add_info(CLI::App& app, Invocation& invocation);
void add_exec(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_algorithms(CLI::App& app, Invocation& invocation);
void add_schedule(CLI::App& app, Invocation& invocation);
void add_simulate(CLI::App& app, Invocation& invocation);
void add_reproduce(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_lab(CLI::App& app, Invocation& invocation);
void add_nic(CLI::App& app, Invocation& invocation);
void add_probe(CLI::App& app, Invocation& invocation);
void add_tune(CLI::App& app, Invocation& invocation);
void add_where(CLI::App& app, Invocation& invocation);
void add_top(CLI::App& app, Invocation& invocation);
void add_documentation(CLI::App& app, Invocation& invocation);

}  // namespace hocket::command
