// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/printable.h"

#include <cstddef>

namespace hocket::platform {
namespace {

// How many bytes of `text` are one character that has a picture; 0: none are.
size_t character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t bytes = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || first > 0xf4) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  if (first == 0xc2 && second < 0xa0) return 0;  // further commands
  // What turns the direction of text, or shows nothing, makes one text look like another.
  const bool is_hidden = first == 0xe2 && (second == 0x80 || second == 0x81);
  // Written longer than needed, beyond the last character, or half of a pair.
  const bool is_no_character = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90) ||
                               (first == 0xf4 && second > 0x8f) || (first == 0xed && second > 0x9f);
  return is_hidden || is_no_character ? 0 : bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = character_at(text.substr(at));
    shown += bytes == 0 ? "?" : text.substr(at, bytes);
    at += bytes == 0 ? 1 : bytes;
  }
  return shown;
}

}  // namespace hocket::platform
