// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.h"

#include <cerrno>
#include <system_error>

namespace hocket {

Status Status::system(const std::string& what, int error_number) {
  // Not strerror(): that one may write to a buffer shared by all threads.
  return {Code::kSystem, what + ": " + std::system_category().message(error_number)};
}

Status Status::system_call(const std::string& what, const char* call, int error_number) {
  const bool is_refused = error_number == EPERM || error_number == EACCES || error_number == ENOSYS;
  const std::string remedy = is_refused ? std::string(" (the system call ") + call +
                                              " is refused; allow it in the sandbox or seccomp profile of this process)"
                                        : std::string(" (") + call + ")";
  Status plain = system(what, error_number);
  return {Code::kSystem, plain.message() + remedy};
}

}  // namespace hocket
