// SPDX-License-Identifier: BSD-3-Clause
// What shells complete on the command's line, as scripts in their languages: subcommands, options, the words that an
// option takes, names of collectives and algorithms, files, interfaces, labs; and behind `--`, or from PROGRAM on, what
// the program completes itself.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "documentation/command_tree.h"

namespace hocket::documentation {

// The words of some types of arguments, by what --help calls these.
struct Vocabulary {
  std::vector<std::string> collectives;                                      // COLLECTIVE; with `all` COLLECTIVES
  std::vector<std::string> measurements;                                     // NAMES
  std::vector<std::pair<std::string, std::vector<std::string>>> algorithms;  // ALGORITHM: those of each collective
  std::string lab_directory;                                                 // LAB: what lies in it

  // Those of a type that has some whatever stands before it.
  std::vector<std::string> words_of(std::string_view type) const;
};

// "COLLECTIVE [BYTES]" -> "COLLECTIVE", "BYTES": a type for each of the values.
std::vector<std::string> types_of(const Argument& argument);

std::string joined(const std::vector<std::string>& words, std::string_view between);

std::string bash_completion(const Command& command, const Vocabulary& vocabulary);
std::string zsh_completion(const Command& command, const Vocabulary& vocabulary);
std::string fish_completion(const Command& command, const Vocabulary& vocabulary);

}  // namespace hocket::documentation
