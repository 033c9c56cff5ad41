// SPDX-License-Identifier: BSD-3-Clause
// Values out of what a fuzzer gives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hocket::test {

// A piece of the input, zeros behind its end.
template <typename Value>
Value take(std::span<const uint8_t>& input) {
  Value value{};
  const size_t bytes = std::min(sizeof value, input.size());
  if (bytes != 0) std::memcpy(&value, input.data(), bytes);
  input = input.subspan(bytes);
  return value;
}

}  // namespace hocket::test
