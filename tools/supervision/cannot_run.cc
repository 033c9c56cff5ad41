// SPDX-License-Identifier: BSD-3-Clause
#include "supervision/cannot_run.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "supervision/exit_codes.h"

namespace hocket::supervision {

CannotRun cannot_run(const std::string& program, int error) {
  if (error != ENOENT) return {kCannotRun, "can't run `" + program + "`: " + std::strerror(error)};
  if (program.find('/') == std::string::npos) return {kNotFound, "there is no program `" + program + "` on PATH"};
  if (access(program.c_str(), F_OK) != 0) return {kNotFound, "there is no program `" + program + "`"};
  return {kNotFound, "can't run `" + program + "`: its interpreter, which its first bytes name, is missing"};
}

}  // namespace hocket::supervision
