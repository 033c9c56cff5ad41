// SPDX-License-Identifier: BSD-3-Clause
#include "words/say.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace hocket::command {

int fail(int code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "hocket: %s\n", message.c_str());
  return code;
}

bool wants_colour(int descriptor) { return isatty(descriptor) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace hocket::command
