// SPDX-License-Identifier: BSD-3-Clause
// The parts of `hocket lab`: each file adds its own subcommands.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/command.h"

namespace hocket::command {

void add_lab_building(CLI::App& lab, Invocation& invocation);
void add_lab_status(CLI::App& lab, Invocation& invocation);
void add_lab_exec(CLI::App& lab, Invocation& invocation);
void add_lab_mpirun(CLI::App& lab, Invocation& invocation);
void add_lab_record(CLI::App& lab, Invocation& invocation);
void add_lab_bench(CLI::App& lab_command, Invocation& invocation);
void add_lab_bench_rank(CLI::App& lab_command, Invocation& invocation);
void add_lab_impairments(CLI::App& lab, Invocation& invocation);

// --name, for all that concern one lab.
void add_lab_name(CLI::App& subcommand, std::string& name);
// The same for those that take a lab's name without --name, too.
void add_which_lab(CLI::App& subcommand, std::string& name, const std::string& help);

// What stands behind a subcommand's own options, with what follows a "--".
std::vector<std::string> words_behind(const CLI::App& subcommand, const Invocation& invocation);

}  // namespace hocket::command
