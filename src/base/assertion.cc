// SPDX-License-Identifier: BSD-3-Clause
#include "base/assertion.h"

#ifdef HOCKET_ASSERTIONS

#include <cstdio>
#include <cstdlib>

namespace hocket::internal {

void fail_assertion(const char* file, int line, const char* condition, const char* sentence) {
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, condition, sentence);
  std::abort();
}

}  // namespace hocket::internal

#endif
