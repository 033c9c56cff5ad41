// SPDX-License-Identifier: BSD-3-Clause
// Memory that is read here and there, in pages of two megabytes where the system has such: else finding out where a
// page lies takes as long as reading what is on it.
//
// Thread safety: as the vector.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::simulation {

// Only a wish: without such pages everything is as before, but slower.
template <typename Value>
void resize_in_large_pages(std::vector<Value>& values, size_t size) {
  constexpr size_t kLargePage = size_t{1} << 21;
  values.reserve(size);
  if (size * sizeof(Value) >= 2 * kLargePage) {
    const auto begin = (reinterpret_cast<uintptr_t>(values.data()) + kLargePage - 1) / kLargePage * kLargePage;
    const auto end = (reinterpret_cast<uintptr_t>(values.data()) + size * sizeof(Value)) / kLargePage * kLargePage;
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
  }
  values.resize(size);
}

}  // namespace hocket::simulation
