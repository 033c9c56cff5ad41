// SPDX-License-Identifier: BSD-3-Clause
// Whether elements of XML and HTML are closed in the order in which they were opened.
//
// Thread safety: pure functions.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::pages {

// "" where all are, no attribute lacks a quote, and each & begins an entity; else what is wrong.
inline std::string what_is_unbalanced(std::string_view text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&') {
      const size_t end = text.find(';', at);
      if (end == std::string_view::npos || end - at > 8) return "a bare &";
    }
    if (text[at] == '>') return "a bare >";
    if (text[at] != '<') continue;
    size_t end = at + 1;
    for (bool is_quoted = false; end < text.size() && (is_quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') is_quoted = !is_quoted;
      if (text[end] == '<') return "a < in a tag";
    }
    if (end >= text.size()) return "a tag without an end";
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    const bool is_end = tag.starts_with('/');
    std::string name;
    for (const char c : tag.substr(is_end ? 1 : 0)) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) break;
      name += c;
    }
    if (!is_end) {
      open.push_back(name);
      continue;
    }
    if (open.empty() || open.back() != name) return "</" + name + "> closes what is not open";
    open.pop_back();
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace hocket::pages
