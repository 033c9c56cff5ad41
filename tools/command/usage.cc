// SPDX-License-Identifier: BSD-3-Clause
#include "command/usage.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

namespace hocket::command {
namespace {

class WithCommand : public CLI::Formatter {
 public:
  explicit WithCommand(std::string command) : command_(std::move(command)) {}

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    while (usage.ends_with('\n')) usage.pop_back();
    return usage + " " + command_ + "\n";
  }

 private:
  std::string command_;
};

}  // namespace

void show_command_in_usage(CLI::App& subcommand, std::string command) {
  subcommand.formatter(std::make_shared<WithCommand>(std::move(command)));
}

std::string unknown_option(const std::string& subcommand, const std::vector<std::string>& command) {
  if (command.empty() || !command[0].starts_with("-")) return {};
  return "there is no option `" + command[0] + "`; `hocket " + subcommand + " --help` lists them";
}

void add_inside_mpi(CLI::App& subcommand, std::string& inside) {
  subcommand.add_option("--inside-mpi", inside)->group("");
}

}  // namespace hocket::command
