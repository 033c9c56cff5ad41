// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hocket::interposer {
namespace {

bool is_set(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0';
}

// By the variables: the locale of the process is the program's own.
bool speaks_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(variable)) continue;
    std::string text = std::getenv(variable);
    std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
      return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
    });
    return text.find("UTF-8") != std::string::npos || text.find("UTF8") != std::string::npos;
  }
  return false;
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

bool controls_terminal(char byte) { return (byte >= 0 && byte < ' ') || byte == '\x7f'; }

size_t characters_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string_view first_characters(std::string_view text, size_t count) {
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end)
    if (begins_character(text[end]) && seen++ == count) break;
  return text.substr(0, end);
}

}  // namespace

TerminalStyle style_of(int descriptor) {
  TerminalStyle style;
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  style.has_colour = isatty(descriptor) != 0 && !is_dumb && !is_set("NO_COLOR");
  style.has_blocks = speaks_utf8();
  return style;
}

std::string fit_text(std::string_view any_text, size_t width) {
  std::string text(any_text);
  std::replace_if(text.begin(), text.end(), controls_terminal, '?');
  const size_t length = characters_of(text);
  if (length <= width) return text.append(width - length, ' ');
  constexpr std::string_view kGap = "..";
  const size_t left = width < kGap.size() ? 0 : width - kGap.size();
  const size_t front = left / 2;
  std::string shortened(first_characters(text, front));
  shortened += kGap.substr(0, width);
  // What is left behind the first `length` - `back` characters.
  const size_t back = left - front;
  shortened += std::string_view(text).substr(first_characters(text, length - back).size());
  return shortened;
}

std::string bar_text(double share, size_t width, bool has_blocks) {
  const double whole = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  if (!has_blocks) return std::string(share > 0 ? static_cast<size_t>(std::max(1L, std::lround(whole))) : 0, '#');
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const long eighths = share > 0 ? std::max(1L, std::lround(whole * 8)) : 0;
  std::string bar;
  for (long i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  return bar;
}

}  // namespace hocket::interposer
