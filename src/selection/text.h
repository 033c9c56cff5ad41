// SPDX-License-Identifier: BSD-3-Clause
// Words in messages.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::selection {

inline std::string quoted(std::string_view text) {
  std::string result(1, '`');
  result += text;
  result += '`';
  return result;
}

inline std::string plural(uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace hocket::selection
