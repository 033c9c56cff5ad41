// SPDX-License-Identifier: BSD-3-Clause
// Whether the long tier is asked for: ./dev test --long.
#pragma once

#include <cstdlib>
#include <cstring>

namespace hocket::test {

inline bool is_long_tier() {
  const char* value = std::getenv("LONG_TESTS");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace hocket::test
