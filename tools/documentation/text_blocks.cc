// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/text_blocks.h"

#include <algorithm>

namespace hocket::documentation {
namespace {

// The parts of a line between which there is room.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const size_t gap = line.find("  ");
    cells.emplace_back(line.substr(0, gap));
    const size_t next = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    if (next == std::string_view::npos) return cells;
    line.remove_prefix(next);
  }
}

void append(std::string& text, std::string_view more) {
  if (!text.empty()) text += ' ';
  text += more;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Block> split_blocks(std::string_view text) {
  std::vector<Block> blocks;
  size_t margin = 0;  // of the list
  bool goes_on = false;
  for (const std::string_view line : split_lines(text)) {
    const size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) {
      goes_on = false;
      continue;
    }
    const std::string_view words = line.substr(indent);
    const bool starts = !goes_on || blocks.back().is_list() != (indent > 0) || words.starts_with("Exit codes:");
    if (starts) {
      blocks.emplace_back();
      margin = indent;
    }
    goes_on = true;
    Block& block = blocks.back();
    if (indent == 0) {
      append(block.paragraph, words);
    } else if (indent > margin && !block.items.empty()) {
      append(block.items.back().text, words);
    } else {
      const std::vector<std::string> cells = cells_of(words);
      for (size_t i = 0; i < cells.size(); i += 2)
        block.items.push_back({cells[i], i + 1 < cells.size() ? cells[i + 1] : ""});
    }
  }
  return blocks;
}

}  // namespace hocket::documentation
