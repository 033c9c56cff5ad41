// SPDX-License-Identifier: BSD-3-Clause
#include "command/words.h"

#include <memory>
#include <sstream>

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

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

void show_command_in_usage(CLI::App& subcommand, std::string command) {
  subcommand.formatter(std::make_shared<WithCommand>(std::move(command)));
}

}  // namespace hocket::command
