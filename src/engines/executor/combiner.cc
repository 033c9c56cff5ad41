// SPDX-License-Identifier: BSD-3-Clause
#include "engines/executor/combiner.h"

#include <cstring>
#include <memory>

namespace hocket::engines {

void Combiner::call_user(const void* left, const void* right, void* out, size_t count) const {
  const size_t bytes = count * element_bytes;
  if (bytes == 0) return;
  if (out == right) {
    function(left, out, count, type, user);
  } else if (out != left) {
    std::memcpy(out, right, bytes);
    function(left, out, count, type, user);
  } else if (commutative) {
    function(right, out, count, type, user);
  } else {
    // The function can only overwrite its right operand, and here the left one is to be overwritten.
    const auto temporary = std::make_unique<std::byte[]>(bytes);
    std::memcpy(temporary.get(), right, bytes);
    function(left, temporary.get(), count, type, user);
    std::memcpy(out, temporary.get(), bytes);
  }
}

}  // namespace hocket::engines
