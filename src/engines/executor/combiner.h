// SPDX-License-Identifier: BSD-3-Clause
// out = left (op) right, by one of hocket's kernels or by a function of the user's.
//
// Thread safety: any thread, as far as the user's function allows it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduction/reduction.h"

namespace hocket::engines {

// The user's function computes inout = in (op) inout, as MPI's do.
using UserCombine = void (*)(const void* in, void* inout, size_t count, uint32_t type, void* user);

struct Combiner {
  reduction::Combine kernel = nullptr;
  UserCombine function = nullptr;
  void* user = nullptr;
  uint32_t type = 0;
  reduction::Operation operation = reduction::Operation::kNone;  // of the kernel
  bool commutative = true;
  size_t element_bytes = 1;

  // `out` may be `left` or `right`.
  void operator()(const void* left, const void* right, void* out, size_t count) const {
    if (kernel != nullptr) [[likely]] {
      kernel(left, right, out, count);
    } else {
      call_user(left, right, out, count);
    }
  }

 private:
  void call_user(const void* left, const void* right, void* out, size_t count) const;
};

}  // namespace hocket::engines
