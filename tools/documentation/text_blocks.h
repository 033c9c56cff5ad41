// SPDX-License-Identifier: BSD-3-Clause
// Text as footers of --help and comments of the public header have it: paragraphs, headings, and indented lists.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hocket::documentation {

std::vector<std::string_view> split_lines(std::string_view text);

// Of an indented list: "  hocket lab up 4      nodes n0 to n3" has a term and what is said of it, two blanks or more
// apart. It goes on in lines that are indented further; a line may hold several.
struct Item {
  std::string term;
  std::string text;
};

struct Block {
  std::string paragraph;    // its lines joined by blanks; "" of a list
  std::vector<Item> items;  // of a list

  bool is_list() const { return paragraph.empty(); }
};

// A new paragraph begins behind an empty line or a list, and where a line begins with "Exit codes:".
std::vector<Block> split_blocks(std::string_view text);

}  // namespace hocket::documentation
