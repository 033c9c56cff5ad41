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

std::vector<char*> argument_vector(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

int become(const std::vector<std::string>& command) {
  const std::vector<char*> arguments = argument_vector(command);
  execvp(arguments[0], arguments.data());
  return errno;
}

}  // namespace hocket::supervision
