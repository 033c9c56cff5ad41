// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/completion.h"

namespace hocket::documentation {
namespace {

// How the line is read. `tables` stand before it.
constexpr const char* kBashReader = R"script(
# Of the words before the cursor: which subcommand, which option waits for a value, how many positional arguments.
_hocket() {
  local current=${COMP_WORDS[COMP_CWORD]} path=hocket option='' taken=0 position=0 collective='' word i
  local most kinds words delimiter subcommands options positionals tail
  COMPREPLY=()
  [[ $current == = ]] && current=
  _hocket_command "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    [[ $word == = ]] && continue # `--option=value` comes as three words
    if [[ $option && $word != -* ]] && ((taken < most)); then
      [[ ${kinds[taken]} == COLLECTIVE ]] && collective=$word
      ((++taken))
      continue
    fi
    option=
    if [[ $word == -- ]]; then
      _hocket_program $((i + 1))
      return
    elif [[ $word == -* ]]; then
      option=$word taken=0
      _hocket_argument "$path $word"
    elif [[ " $subcommands " == *" $word "* ]]; then
      path+=" $word"
      _hocket_command "$path"
    else
      if [[ $tail == program ]] && ((position >= positionals)); then
        _hocket_program "$i"
        return
      fi
      ((++position))
      _hocket_argument "$path $position"
      [[ ${kinds[0]} == COLLECTIVE ]] && collective=$word
    fi
  done
  if [[ $option ]] && ((taken < most)) && [[ $taken == 0 || $current != -* ]]; then
    _hocket_value
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ $subcommands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$subcommands" -- "$current")
  elif ((position < positionals)); then
    taken=0
    _hocket_argument "$path $((position + 1))"
    _hocket_value
  elif [[ $tail == program ]]; then
    _hocket_program "$COMP_CWORD"
  fi
}

_hocket_value() {
  local prefix='' kind=${kinds[taken]-${kinds[-1]}}
  if [[ $delimiter && $current == *"$delimiter"* ]]; then
    prefix=${current%"$delimiter"*}$delimiter
    current=${current##*"$delimiter"}
  fi
  ((taken > 0 && ${#kinds[@]} > 1)) && words= # which are of the first type
  case $kind in
    FILE)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return ;;
    USER | GROUP)
      mapfile -t COMPREPLY < <(compgen -A "${kind,,}" -- "$current")
      return ;;
    ALGORITHM) words=$(_hocket_algorithms "$collective") ;;
    IFACE) words=$(cd /sys/class/net 2>/dev/null && compgen -G '*') ;;
    LAB) words=$(cd "${HOCKET_LAB_DIRECTORY:-@LABS@}" 2>/dev/null && compgen -G '*') ;;
  esac
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "$current")
}

# From that word on the line is another command's.
_hocket_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
    return
  fi
  compopt -o filenames 2>/dev/null
  if ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -F _hocket hocket
)script";

std::string quoted(const std::string& words) { return "'" + words + "'"; }

// With a delimiter they come in one word, as a rule.
int values_of(const Argument& argument) { return argument.delimiter != 0 ? 1 : argument.most; }

std::string line_of_argument(const std::string& key, const Argument& argument, const Vocabulary& vocabulary) {
  const std::vector<std::string> types = types_of(argument);
  std::vector<std::string> words = argument.choices;
  if (words.empty()) words = vocabulary.words_of(types.front());
  const bool is_list = argument.delimiter != 0 || types.front() == "COLLECTIVES" || types.front() == "NAMES";
  const std::string delimiter = argument.delimiter != 0 ? std::string(1, argument.delimiter) : is_list ? "," : "";
  return "    " + key + ") most=" + std::to_string(values_of(argument)) + " kinds=(" + joined(types, " ") +
         ") words=" + quoted(joined(words, " ")) + " delimiter=" + quoted(delimiter) + " ;;\n";
}

std::string commands_table(const Command& root) {
  std::string table = "_hocket_command() {\n  case $1 in\n";
  for_each(root, [&](const Command& command) {
    std::vector<std::string> subcommands, options;
    for (const Command& subcommand : command.subcommands) subcommands.push_back(subcommand.name);
    for (const Argument& option : command.options)
      options.insert(options.end(), option.names.begin(), option.names.end());
    table += "    " + quoted(command.path) + ")\n      subcommands=" + quoted(joined(subcommands, " ")) +
             " positionals=" + std::to_string(command.positionals.size()) +
             " tail=" + (command.tail == Tail::kProgram ? "program" : "") +
             "\n      options=" + quoted(joined(options, " ")) + " ;;\n";
  });
  return table + "  esac\n}\n";
}

std::string arguments_table(const Command& root, const Vocabulary& vocabulary) {
  std::string table = "_hocket_argument() {\n  most=0 kinds=() words='' delimiter=''\n  case $1 in\n";
  for_each(root, [&](const Command& command) {
    for (const Argument& option : command.options) {
      std::vector<std::string> keys;
      for (const std::string& name : option.names) keys.push_back(quoted(command.path + " " + name));
      if (!option.is_flag()) table += line_of_argument(joined(keys, " | "), option, vocabulary);
    }
    for (size_t i = 0; i < command.positionals.size(); ++i)
      table += line_of_argument(quoted(command.path + " " + std::to_string(i + 1)), command.positionals[i], vocabulary);
  });
  return table + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const Command& command, const Vocabulary& vocabulary) {
  std::string script = "# bash completion for hocket: as `hocket completion bash` prints it\n";
  script += commands_table(command) + arguments_table(command, vocabulary);
  script += "_hocket_algorithms() {\n  local name=${1,,}\n  name=${name#mpi_}\n  case ${name//-/_} in\n";
  for (const auto& [collective, algorithms] : vocabulary.algorithms)
    script += "    " + collective + (collective == "broadcast" ? " | bcast" : "") + ") echo " +
              quoted(joined(algorithms, " ")) + " ;;\n";
  script += "  esac\n}\n";
  std::string reader = kBashReader;
  const std::string place = "@LABS@";
  reader.replace(reader.find(place), place.size(), vocabulary.lab_directory);
  return script + reader;
}

}  // namespace hocket::documentation
