// SPDX-License-Identifier: BSD-3-Clause
#include "command/words.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
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

Result<double> read_time(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "ms" ? 1e-3 : 0;
  if (end == text.c_str() || factor == 0 || !(number * factor > 0) || number * factor > 86400)
    return Status(Code::kInvalidArgument, option + " " + text + ": a time up to a day, such as 60s, 5m or 500ms");
  return number * factor;
}

void show_command_in_usage(CLI::App& subcommand, std::string command) {
  subcommand.formatter(std::make_shared<WithCommand>(std::move(command)));
}

Status check_writable(const std::string& option, const std::string& path) {
  if (path.empty()) return Status::ok();
  const bool is_new = access(path.c_str(), F_OK) != 0;
  const std::ofstream file(path, std::ios::app);
  if (!file) return Status(Code::kInvalidArgument, option + ": can't write " + path + ": " + std::strerror(errno));
  if (is_new) unlink(path.c_str());
  return Status::ok();
}

}  // namespace hocket::command
