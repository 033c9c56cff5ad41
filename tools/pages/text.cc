// SPDX-License-Identifier: BSD-3-Clause
#include "pages/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace hocket::pages {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "…";
constexpr int kSignificantDigits = 3;
// From here on numbers are read by their exponents.
constexpr double kLargest = 1e7;
constexpr double kSmallest = 1e-4;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

// The bytes of the character that the text begins with; 0 where these are no UTF-8.
size_t length_of_first(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(length), continues)) return 0;
  if (length < 3) return length;
  // Longer than need be, halves of UTF-16 pairs, beyond the last one, and U+FFFE and U+FFFF, which XML can't have.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_none = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90) ||
                       text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
  return is_overlong || is_none ? 0 : length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

// For what has to be escaped, the text in its place; by far most characters have none.
std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string with_exponent(double value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific,
                                 kSignificantDigits - 1);
  const std::string_view text(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
  const size_t mark = text.find('e');
  std::string_view mantissa = text.substr(0, mark);
  while (mantissa.ends_with('0')) mantissa.remove_suffix(1);
  if (mantissa.ends_with('.')) mantissa.remove_suffix(1);
  std::string_view exponent = text.substr(mark + 1);
  const bool is_small = exponent.starts_with('-');
  exponent.remove_prefix(std::min(exponent.find_first_not_of("+-0"), exponent.size()));
  return std::string(mantissa) + (is_small ? "e-" : "e") + std::string(exponent);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const size_t length = length_of_first(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (length != 0 && !is_control(character)) {
      plain += character;
    } else if (character == "\t" || character == "\n" || character == "\r") {
      plain += ' ';
    } else {
      plain += kReplacement;
    }
    text.remove_prefix(character.size());
  }
  return plain;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    const std::string_view entity = entity_of(c);
    entity.empty() ? safe += c : safe += entity;
  }
  return safe;
}

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    json += text;
  } else {
    for (const char c : printable(text)) {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
  }
  json += '"';
}

size_t count_characters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), continues));
}

std::string shortened(std::string_view text, size_t limit) {
  if (count_characters(text) <= limit) return std::string(text);
  size_t end = 0;
  for (size_t kept = 0; kept + 1 < limit; ++kept) {
    ++end;
    while (end < text.size() && continues(text[end])) ++end;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= kLargest || size < kSmallest) return with_exponent(value);
  const int before_point = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fixed_text(value, std::max(0, kSignificantDigits - before_point));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  std::array<char, 400> digits;  // a double has up to 309 before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed,
                                 std::min(decimals, 60));
  const std::string_view text(digits.data(), static_cast<size_t>(end.ptr - digits.data()));
  return text.find_first_of("123456789") == std::string_view::npos ? "0" : std::string(text);
}

bool is_number(std::string_view cell) {
  // More would be a sentence that begins with a number.
  constexpr ptrdiff_t kMostLetters = 7;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (std::count_if(cell.begin(), cell.end(), is_letter) > kMostLetters) return false;
  for (const std::string_view sign : {"<", ">", "≤", "≥", "~", "≈", "±", "+", "-", "−", "×"}) {
    if (cell.starts_with(sign)) {
      cell.remove_prefix(sign.size());
      break;
    }
  }
  cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
  if (cell.starts_with('.')) cell.remove_prefix(1);
  return !cell.empty() && cell[0] >= '0' && cell[0] <= '9';
}

}  // namespace hocket::pages
