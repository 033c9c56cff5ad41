// SPDX-License-Identifier: BSD-3-Clause
// How a process becomes a program, and what is told of one that can't be started, and with which exit code, as shells
// have it.
//
// Thread safety: pure, but for the file system and become().
#pragma once

#include <string>
#include <vector>

namespace hocket::supervision {

struct CannotRun {
  int exit_code;    // kNotFound or kCannotRun
  std::string why;  // a sentence
};

// `program` as execvp() was passed it, `error` what it has left in errno.
CannotRun cannot_run(const std::string& program, int error);

// As exec() and posix_spawn() take a command: pointers to its words, and nullptr. The words must not be changed.
std::vector<char*> argument_vector(const std::vector<std::string>& command);

// The command in place of this process; its first word is a path or is looked for on PATH. Returns only if it can't be
// run: what execvp() has left in errno, for cannot_run().
int become(const std::vector<std::string>& command);

}  // namespace hocket::supervision
