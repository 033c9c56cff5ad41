// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/completion.h"

namespace hocket::documentation {
namespace {

// How the line is read. `tables` stand before it.
constexpr const char* kFishReader = R"script(
# Of the words before the cursor: the subcommand, how many positional arguments there are, and the words of another
# command, if these have come.
function __hocket_read
    set -g __hocket_path hocket
    set -g __hocket_position 0
    set -g __hocket_collective
    set -g __hocket_program
    set -l words (commandline -opc)[2..-1]
    set -l takes_value 0
    for i in (seq (count $words))
        set -l word $words[$i]
        if test $takes_value -eq 1
            set takes_value 0
        else if test "$word" = --
            set -g __hocket_program $words[(math $i + 1)..-1] ''
            return
        else if string match -qr '^-' -- $word
            contains -- $word (__hocket_options_with_value $__hocket_path); and set takes_value 1
        else if contains -- $word (__hocket_subcommands $__hocket_path)
            set -g __hocket_path "$__hocket_path $word"
        else
            if __hocket_ends_in_program $__hocket_path
                and test $__hocket_position -ge (__hocket_positionals $__hocket_path)
                set -g __hocket_program $words[$i..-1] ''
                return
            end
            set -g __hocket_position (math $__hocket_position + 1)
            if test $__hocket_position -eq 1
                set -g __hocket_collective \
                    (string lower -- $word | string replace -r ^mpi_ "" | string replace -a - _)
            end
        end
    end
    if test $takes_value -eq 0; and __hocket_ends_in_program $__hocket_path
        and test $__hocket_position -ge (__hocket_positionals $__hocket_path)
        set -g __hocket_program ''
    end
end

# The subcommand is that, and the line still is hocket's own.
function __hocket_at
    __hocket_read
    test "$__hocket_path" = "$argv[1]"; and test (count $__hocket_program) -eq 0
end

# So many positional arguments stand before the cursor.
function __hocket_positional
    __hocket_at $argv[1]; and test $__hocket_position -eq $argv[2]
end

function __hocket_in_program
    __hocket_read
    test (count $__hocket_program) -gt 0
end

function __hocket_complete_program
    set -l line (string escape -- $__hocket_program[1..-2])
    complete -C "$line "(commandline -ct)
end

# Of a list the last word, behind those that stand already.
function __hocket_list
    set -l before (string match -r '^.*,' -- (commandline -ct)); or set before ''
    printf '%s\n' $before$argv
end

complete -c hocket -f
complete -c hocket -n __hocket_in_program -f -a '(__hocket_complete_program)'
)script";

std::string quoted_for_fish(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// What completes a value: the words behind -a, or a switch that lets files in; "" where nothing does.
std::string values_for_fish(const Argument& argument, const Vocabulary& vocabulary) {
  const std::string type = types_of(argument).front();
  std::vector<std::string> words = argument.choices;
  if (words.empty()) words = vocabulary.words_of(type);
  const bool is_list = argument.delimiter == ',' || type == "COLLECTIVES" || type == "NAMES";
  if (is_list && !words.empty()) return " -a " + quoted_for_fish("(__hocket_list " + joined(words, " ") + ")");
  if (!words.empty()) return " -a " + quoted_for_fish(joined(words, " "));
  if (type == "FILE") return " -F";
  if (type == "USER") return " -a '(__fish_complete_users)'";
  if (type == "GROUP") return " -a '(__fish_complete_groups)'";
  if (type == "IFACE") return " -a '(__fish_print_interfaces)'";
  if (type == "LAB") return " -a '(__hocket_labs)'";
  if (type == "ALGORITHM") return " -a '(__hocket_algorithms)'";
  return "";
}

std::string line_for_fish(const Command& command, const Argument& option, const Vocabulary& vocabulary) {
  std::string line = "complete -c hocket -n '__hocket_at \"" + command.path + "\"'";
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  const std::string values = values_for_fish(option, vocabulary);
  if (!option.is_flag()) line += (values == " -F" ? " -r" : " -x") + values;
  return line + " -d " + quoted_for_fish(option.help) + "\n";
}

// A function that prints, for each subcommand, what `list` says of it.
template <typename List>
std::string table_for_fish(const char* name, const Command& root, const List& list) {
  std::string table = "function " + std::string(name) + "\n    switch $argv[1]\n";
  for_each(root, [&](const Command& command) {
    const std::string words = list(command);
    if (!words.empty()) table += "        case '" + command.path + "'\n            " + words + "\n";
  });
  return table + "    end\nend\n";
}

std::string printed(const std::vector<std::string>& words) {
  return words.empty() ? "" : "printf '%s\\n' " + joined(words, " ");
}

std::string tables_for_fish(const Command& root, const Vocabulary& vocabulary) {
  std::string tables = table_for_fish("__hocket_subcommands", root, [](const Command& command) {
    std::vector<std::string> names;
    for (const Command& subcommand : command.subcommands) names.push_back(subcommand.name);
    return printed(names);
  });
  tables += table_for_fish("__hocket_options_with_value", root, [](const Command& command) {
    std::vector<std::string> names;
    for (const Argument& option : command.options)
      if (!option.is_flag()) names.insert(names.end(), option.names.begin(), option.names.end());
    return printed(names);
  });
  tables += table_for_fish("__hocket_positionals", root,
                           [](const Command& command) { return "echo " + std::to_string(command.positionals.size()); });
  tables += table_for_fish("__hocket_ends_in_program", root, [](const Command& command) {
    return std::string(command.tail == Tail::kProgram ? "return 0" : "return 1");
  });
  tables += "function __hocket_algorithms\n    switch $__hocket_collective\n";
  for (const auto& [collective, algorithms] : vocabulary.algorithms)
    tables += "        case " + collective + (collective == "broadcast" ? " bcast" : "") + "\n            " +
              printed(algorithms) + "\n";
  tables += "    end\nend\nfunction __hocket_labs\n    set -l folder " + vocabulary.lab_directory +
            "\n    set -q HOCKET_LAB_DIRECTORY; and set folder $HOCKET_LAB_DIRECTORY\n"
            "    for lab in $folder/*\n        path basename $lab\n    end\nend\n";
  return tables;
}

}  // namespace

std::string fish_completion(const Command& root, const Vocabulary& vocabulary) {
  std::string script = "# fish completion for hocket: as `hocket completion fish` prints it\n";
  script += tables_for_fish(root, vocabulary) + kFishReader;
  for_each(root, [&](const Command& command) {
    for (const Command& subcommand : command.subcommands)
      script += "complete -c hocket -n '__hocket_positional \"" + command.path + "\" 0' -a " + subcommand.name +
                " -d " + quoted_for_fish(subcommand.summary) + "\n";
    for (const Argument& option : command.options) script += line_for_fish(command, option, vocabulary);
    for (size_t i = 0; i < command.positionals.size(); ++i) {
      const std::string values = values_for_fish(command.positionals[i], vocabulary);
      if (!values.empty())
        script += "complete -c hocket -n '__hocket_positional \"" + command.path + "\" " + std::to_string(i) + "'" +
                  values + "\n";
    }
  });
  return script;
}

}  // namespace hocket::documentation
