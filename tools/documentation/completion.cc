// SPDX-License-Identifier: BSD-3-Clause
#include "documentation/completion.h"

namespace hocket::documentation {

std::vector<std::string> Vocabulary::words_of(std::string_view type) const {
  if (type == "COLLECTIVE") return collectives;
  if (type == "NAMES") return measurements;
  if (type == "NODE") return {"all", "n0", "n1"};
  if (type == "NODES") return {"all", "each", "n0", "n1"};
  if (type != "COLLECTIVES") return {};
  std::vector<std::string> words = {"all"};
  words.insert(words.end(), collectives.begin(), collectives.end());
  return words;
}

std::vector<std::string> types_of(const Argument& argument) {
  std::vector<std::string> types(1);
  for (const char c : argument.type) {
    if (c == ' ')
      types.emplace_back();
    else if (c != '[' && c != ']')
      types.back() += c;
  }
  return types;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text.append(i == 0 ? "" : between).append(words[i]);
  return text;
}

}  // namespace hocket::documentation
