// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace hocket::documentation {
namespace {

std::string trimmed(std::string text) {
  const char* blanks = " \n";
  text.erase(0, text.find_first_not_of(blanks));
  text.erase(text.find_last_not_of(blanks) + 1);
  return text;
}

// "{auto,mpich}" -> "auto", "mpich".
std::vector<std::string> words_of_set(const std::string& text) {
  return CLI::detail::split(text.substr(1, text.find('}') - 1), ',');
}

// As people write it: "INT in [1 - 4096]" -> "from 1 to 4096".
std::string limits_of(const std::string& check) {
  const size_t begin = check.find(" in [");
  if (begin != std::string::npos) {
    const std::string range = check.substr(begin + 5, check.size() - begin - 6);
    const size_t between = range.find(" - ");
    return "from " + range.substr(0, between) + " to " + range.substr(between + 3);
  }
  if (check == "POSITIVE") return "more than 0";
  if (check == "NONNEGATIVE") return "0 or more";
  return check;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names;
}

Argument read_argument(const CLI::Option& option) {
  Argument argument;
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  if (argument.names.empty()) argument.names.push_back(option.get_name(true));
  argument.help = option.get_description();
  argument.least = option.get_items_expected_min();
  // Of an option that may be repeated, those of one time.
  argument.most = option.get_items_expected_max();
  if (!option.get_allow_extra_args()) argument.most = std::min(argument.most, option.get_type_size_max());
  argument.is_required = option.get_required();
  argument.needs = names_of(option.get_needs());
  argument.excludes = names_of(option.get_excludes());
  if (argument.is_flag()) return argument;
  argument.delimiter = option.get_delimiter();
  argument.default_value = trimmed(option.get_default_str());
  // The parser has one text of the type and its checks: "TEXT:{auto,mpich}".
  const std::vector<std::string> parts = CLI::detail::split(option.get_type_name(), ':');
  argument.type = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_with("{"))
      argument.choices = words_of_set(parts[i]);
    else
      argument.limits = limits_of(parts[i]);
  }
  return argument;
}

Tail tail_of(const std::string& usage) {
  if (usage.find("-- ") != std::string::npos) return Tail::kBehindDashes;
  return usage.ends_with("...") ? Tail::kProgram : Tail::kNothing;
}

Command read_below(const CLI::App& app, const std::string& above) {
  Command command;
  command.name = app.get_name();
  command.path = above + command.name;
  command.summary = app.get_description();
  if (command.summary.ends_with('.')) command.summary.pop_back();
  command.footer = app.get_footer();
  if (const auto* formatter = dynamic_cast<const CLI::Formatter*>(app.get_formatter().get())) {
    const std::string usage = formatter->make_usage(&app, command.path);
    command.usage = trimmed(usage.substr(usage.find(command.path)));
  }
  command.tail = tail_of(command.usage);
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_positional())
      command.positionals.push_back(read_argument(*option));
    else if (!option->get_group().empty())
      command.options.push_back(read_argument(*option));
  }
  for (const CLI::App* subcommand : app.get_subcommands({}))
    if (!subcommand->get_group().empty()) command.subcommands.push_back(read_below(*subcommand, command.path + " "));
  return command;
}

}  // namespace

Command read_command(const CLI::App& app) { return read_below(app, ""); }

void for_each(const Command& command, const std::function<void(const Command&)>& visit) {
  visit(command);
  for (const Command& subcommand : command.subcommands) for_each(subcommand, visit);
}

}  // namespace hocket::documentation
