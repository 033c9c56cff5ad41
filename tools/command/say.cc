// SPDX-License-Identifier: BSD-3-Clause
// What all commands say alike.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "command/command.h"

namespace hocket::command {

int fail(int code, const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "hocket: %s\n", message.c_str());
  return code;
}

bool wants_colour(int descriptor) { return isatty(descriptor) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace hocket::command
