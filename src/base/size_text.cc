// SPDX-License-Identifier: BSD-3-Clause
#include "base/size_text.h"

#include <charconv>
#include <iterator>
#include <optional>

namespace hocket {
namespace {

constexpr char kUnits[] = {'K', 'M', 'G'};

char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter; }

// By how many binary places a unit moves the number.
std::optional<int> shift_of(std::string_view unit) {
  int shift = 0;
  for (size_t i = 0; i < std::size(kUnits) && !unit.empty(); ++i)
    if (upper(unit.front()) == kUnits[i]) shift = 10 * static_cast<int>(i + 1);
  if (shift != 0) {
    unit.remove_prefix(1);
    if (unit.size() == 2 && upper(unit.front()) == 'I') unit.remove_prefix(1);
  }
  const bool is_known = unit.empty() || (unit.size() == 1 && upper(unit.front()) == 'B');
  // "Ki" alone is no unit: its i would have to be followed by a B.
  return is_known ? std::optional<int>(shift) : std::nullopt;
}

}  // namespace

Result<uint64_t> parse_size(std::string_view text) {
  uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::optional<int> shift = shift_of(text.substr(static_cast<size_t>(rest - text.data())));
  if (error != std::errc() || !shift || value > (UINT64_MAX >> *shift)) {
    return Status(Code::kInvalidArgument,
                  "`" + std::string(text) + "` is not a size; write bytes such as " + kSizeExamples);
  }
  return value << *shift;
}

std::string size_to_text(uint64_t bytes) {
  for (size_t i = std::size(kUnits); i > 0; --i) {
    const int shift = 10 * static_cast<int>(i);
    if (bytes != 0 && bytes % (uint64_t{1} << shift) == 0) return std::to_string(bytes >> shift) + kUnits[i - 1];
  }
  return std::to_string(bytes);
}

}  // namespace hocket
