// SPDX-License-Identifier: BSD-3-Clause
// What is told of a program that can't be started, and with which exit code, as shells have it.
//
// Thread safety: pure, but for the file system.
#pragma once

#include <string>

namespace hocket::supervision {

struct CannotRun {
  int exit_code;    // kNotFound or kCannotRun
  std::string why;  // a sentence
};

// `program` as execvp() was passed it, `error` what it has left in errno.
CannotRun cannot_run(const std::string& program, int error);

}  // namespace hocket::supervision
