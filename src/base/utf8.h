// SPDX-License-Identifier: BSD-3-Clause
// Characters of UTF-8 (RFC 3629) in text that may be something else.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace hocket {

// How many bytes of a character begin the text; 0: none that are right.
constexpr size_t length_of_character(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  // Longer than need be, halves of pairs, and what is above the last character.
  const bool is_none = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                       (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return is_none ? 0 : length;
}

}  // namespace hocket
