// SPDX-License-Identifier: BSD-3-Clause
// Words in messages.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace hocket::selection {

inline std::string quoted(std::string_view text) {
  std::string result(1, '`');
  result += text;
  result += '`';
  return result;
}

}  // namespace hocket::selection
