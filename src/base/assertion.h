// SPDX-License-Identifier: BSD-3-Clause
// What a header states as an invariant, checked while it is developed and tested: in builds with HOCKET_ASSERTIONS
// (presets dev, asan and tsan). Elsewhere it is compiled to nothing, and the condition is not evaluated.
//
// For mistakes of hocket's own only. Bad arguments and bad bytes get an error.
//
// Thread safety: any thread.
#pragma once

#ifdef HOCKET_ASSERTIONS

namespace hocket::internal {

// Says so on stderr and aborts.
[[noreturn]] void fail_assertion(const char* file, int line, const char* condition, const char* sentence)
    __attribute__((cold));

}  // namespace hocket::internal

#define HOCKET_ASSERT(condition, sentence)                                          \
  do {                                                                              \
    if (!(condition)) [[unlikely]]                                                  \
      ::hocket::internal::fail_assertion(__FILE__, __LINE__, #condition, sentence); \
  } while (false)

#else

#define HOCKET_ASSERT(condition, sentence) static_cast<void>(sizeof(!(condition)))

#endif
