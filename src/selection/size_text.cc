// SPDX-License-Identifier: BSD-3-Clause
// Sizes as people write them.
#include <charconv>

#include "selection/table.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

constexpr char kSuffixes[] = {'K', 'M', 'G'};

int shift_of(char suffix) {
  for (size_t i = 0; i < sizeof(kSuffixes); ++i)
    if (suffix == kSuffixes[i] || suffix == kSuffixes[i] - 'A' + 'a') return 10 * static_cast<int>(i + 1);
  return 0;
}

Status not_a_size(std::string_view text) {
  return Status(Code::kInvalidArgument, quoted(text) + " is not a size: write 512, 4K, 1M or 2G");
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  std::string_view digits = text;
  // "8B" is how people say it; it changes nothing.
  if (digits.size() > 1 && (digits.back() == 'B' || digits.back() == 'b')) digits.remove_suffix(1);
  int shift = 0;
  if (!digits.empty() && (shift = shift_of(digits.back())) != 0) digits.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return not_a_size(text);
  if (value > (UINT64_MAX >> shift)) return not_a_size(text);
  return value << shift;
}

std::string size_to_text(uint64_t bytes) {
  for (size_t i = sizeof(kSuffixes); i > 0; --i) {
    const int shift = 10 * static_cast<int>(i);
    const uint64_t unit = 1ull << shift;
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes >> shift) + kSuffixes[i - 1];
  }
  return std::to_string(bytes);
}

}  // namespace hocket::selection
