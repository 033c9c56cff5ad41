// SPDX-License-Identifier: BSD-3-Clause
#include "base/status.h"

#include <system_error>

namespace hocket {

Status Status::system(const std::string& what, int error_number) {
  // Not strerror(): that one may write to a buffer shared by all threads.
  return {Code::kSystem, what + ": " + std::system_category().message(error_number)};
}

}  // namespace hocket
