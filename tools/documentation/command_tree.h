// SPDX-License-Identifier: BSD-3-Clause
// The command as its parser knows it, subcommands and all: what manual pages and completions are made from, so that
// they can't say anything else than --help does. What is hidden from --help is left out.
//
// Thread safety: the parser belongs to one thread; what has been read, to any.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hocket::documentation {

// An option, a flag, or a positional argument.
struct Argument {
  std::vector<std::string> names;    // "-n", "--ranks"; of a positional its only one
  std::string type;                  // "INT", "FILE", "COLLECTIVE [BYTES]"; "" of a flag
  std::vector<std::string> choices;  // the words that are accepted, where no others are
  std::string limits;                // "from 1 to 4096"
  std::string default_value;
  std::string help;
  int least = 1, most = 1;  // values each time; both 0 of a flag
  char delimiter = 0;       // between several values in one word
  bool is_required = false;
  std::vector<std::string> needs, excludes;  // other options

  bool is_flag() const { return most == 0; }
  bool takes_many() const { return most > kMany; }

 private:
  static constexpr int kMany = 1000;
};

// What stands behind a subcommand's own arguments.
enum class Tail {
  kNothing,
  kBehindDashes,  // [-- LAUNCHER ...]
  kProgram        // PROGRAM ...
};

struct Command {
  std::string path;  // "hocket lab up"
  std::string name;  // "up"
  std::string summary;
  std::string usage;  // "hocket lab exec [OPTIONS] node -- COMMAND ..."
  std::string footer;
  Tail tail = Tail::kNothing;
  std::vector<Argument> options, positionals;
  std::vector<Command> subcommands;
};

Command read_command(const CLI::App& app);

// The command itself and all below it.
void for_each(const Command& command, const std::function<void(const Command&)>& visit);

}  // namespace hocket::documentation
