// SPDX-License-Identifier: BSD-3-Clause
// What a table on a terminal is made of: words and bars of a width.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hocket::interposer {

struct TerminalStyle {
  bool has_colour = false;
  bool has_blocks = false;  // Unicode's, an eighth of a character finely; otherwise #
};

// Colour on a terminal only, unless NO_COLOR is set; blocks where the locale is of UTF-8.
TerminalStyle style_of(int descriptor);

// Padded with blanks, or without what is in its middle, and .. there. In characters, of UTF-8; control characters, as
// files and functions may have in their names, become question marks.
std::string fit_text(std::string_view text, size_t width);

// `share`, from 0 to 1, of so many characters; not padded. What is not nothing is seen.
std::string bar_text(double share, size_t width, bool has_blocks);

}  // namespace hocket::interposer
