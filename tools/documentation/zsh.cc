// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "documentation/completion.h"

namespace hocket::documentation {
namespace {

constexpr const char* kBehindDashes = R"script(
# What stands there is another command's.
_hocket_behind_dashes() {
  local -i dashes=${words[(ie)--]}
  (( dashes < CURRENT )) || return 1
  shift $dashes words
  (( CURRENT -= dashes ))
  _normal
  return 0
}
)script";

// Within single quotes, and within a specification of `_arguments`, where ] and : end a part.
std::string escaped_for_zsh(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return escaped;
}

std::string function_of(std::string path) {
  std::replace(path.begin(), path.end(), ' ', '_');
  return "_" + path;
}

// What completes a value of that type.
std::string action_of(const Argument& argument, const std::string& type, const Vocabulary& vocabulary) {
  std::vector<std::string> words = argument.choices;
  if (words.empty()) words = vocabulary.words_of(type);
  const bool is_list = argument.delimiter != 0 || type == "COLLECTIVES" || type == "NAMES";
  const std::string delimiter = argument.delimiter == ';' ? "\\;" : ",";
  if (is_list && !words.empty()) return "_sequence -s " + delimiter + " compadd - " + joined(words, " ");
  if (!words.empty()) return "(" + joined(words, " ") + ")";
  if (type == "FILE") return "_files";
  if (type == "USER") return "_users";
  if (type == "GROUP") return "_groups";
  if (type == "IFACE") return "_net_interfaces";
  if (type == "LAB") return "_hocket_known_labs";
  if (type == "ALGORITHM") return "_hocket_known_algorithms";
  return " ";
}

// ":TYPE:action" for each value.
std::string values_for_zsh(const Argument& argument, const Vocabulary& vocabulary) {
  const std::vector<std::string> types = types_of(argument);
  const int count = argument.delimiter != 0 || argument.takes_many() ? 1 : argument.most;
  std::string values;
  for (int i = 0; i < count; ++i) {
    const std::string& type = types[std::min(static_cast<size_t>(i), types.size() - 1)];
    values += (i < argument.least ? ":" : "::") + escaped_for_zsh(type) + ":" + action_of(argument, type, vocabulary);
  }
  return values;
}

std::string line_of_option(const Argument& option, const Vocabulary& vocabulary) {
  const bool may_repeat = option.takes_many();
  const std::string rest = "[" + escaped_for_zsh(option.help) + "]" + values_for_zsh(option, vocabulary) + "'";
  std::string lines;
  for (const std::string& name : option.names) {
    const char* way = option.is_flag() ? "" : name.starts_with("--") ? "=" : "+";
    const std::string others = may_repeat ? "*" : "(" + joined(option.names, " ") + ")";
    lines.append("    '").append(others).append(name).append(way).append(rest).append("\n");
  }
  return lines;
}

void add_function(std::string& script, const Command& command, const Vocabulary& vocabulary) {
  script += "\n" + function_of(command.path) + "() {\n";
  script += "  local state line\n  local -A opt_args\n";
  if (command.tail == Tail::kBehindDashes) script += "  _hocket_behind_dashes && return\n";
  script += "  local -a arguments=(\n";
  for (const Argument& option : command.options) script += line_of_option(option, vocabulary);
  for (size_t i = 0; i < command.positionals.size(); ++i) {
    const Argument& positional = command.positionals[i];
    script += "    '" + std::to_string(i + 1) + values_for_zsh(positional, vocabulary) + "'\n";
  }
  if (!command.subcommands.empty())
    script += "    '1: :->command'\n    '*:: :->arguments'\n";
  else if (command.tail == Tail::kProgram)
    script += "    '*::program:_normal'\n";
  script += "  )\n  _arguments -s " + std::string(command.subcommands.empty() ? "-S" : "-C") + " $arguments\n";
  if (!command.subcommands.empty()) {
    script += "  case $state in\n    (command)\n      local -a commands=(\n";
    for (const Command& subcommand : command.subcommands)
      script += "        '" + subcommand.name + ":" + escaped_for_zsh(subcommand.summary) + "'\n";
    script += "      )\n      _describe -t commands '" + command.path + " command' commands\n      ;;\n";
    script += "    (arguments)\n      case $line[1] in\n";
    for (const Command& subcommand : command.subcommands)
      script += "        (" + subcommand.name + ") " + function_of(subcommand.path) + " ;;\n";
    script += "      esac\n      ;;\n  esac\n";
  }
  script += "}\n";
  for (const Command& subcommand : command.subcommands) add_function(script, subcommand, vocabulary);
}

}  // namespace

std::string zsh_completion(const Command& command, const Vocabulary& vocabulary) {
  std::string script = "#compdef hocket\n# As `hocket completion zsh` prints it.\n";
  script += "\n_hocket_known_labs() {\n  local -a labs=(${HOCKET_LAB_DIRECTORY:-" + vocabulary.lab_directory +
            "}/*(N:t))\n  compadd -a labs\n}\n";
  script += kBehindDashes;
  script +=
      "\n# Those of the collective that stands before.\n_hocket_known_algorithms() {\n"
      "  local name=${${(L)line[1]}#mpi_}\n  case ${name//-/_} in\n";
  for (const auto& [collective, algorithms] : vocabulary.algorithms)
    script += "    (" + collective + (collective == "broadcast" ? "|bcast" : "") + ") compadd - " +
              joined(algorithms, " ") + " ;;\n";
  script += "  esac\n}\n";
  add_function(script, command, vocabulary);
  return script + "\nif [[ $funcstack[1] == _hocket ]]; then\n  _hocket \"$@\"\nelse\n  compdef _hocket hocket\nfi\n";
}

}  // namespace hocket::documentation
