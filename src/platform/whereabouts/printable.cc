// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/printable.h"

#include <cstddef>

#include "base/utf8.h"

namespace hocket::platform {
namespace {

// How many bytes of `text` are one character that has a picture; 0: none are.
size_t picture_at(std::string_view text) {
  const size_t bytes = length_of_character(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (bytes == 1) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const unsigned second = bytes == 0 ? 0 : static_cast<unsigned char>(text[1]);
  const bool is_command = first == 0xc2 && second < 0xa0;
  // What turns the direction of text, or shows nothing, makes one text look like another.
  const bool is_hidden = first == 0xe2 && (second == 0x80 || second == 0x81);
  return is_command || is_hidden ? 0 : bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = picture_at(text.substr(at));
    shown += bytes == 0 ? "?" : text.substr(at, bytes);
    at += bytes == 0 ? 1 : bytes;
  }
  return shown;
}

}  // namespace hocket::platform
