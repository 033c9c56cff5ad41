// SPDX-License-Identifier: BSD-3-Clause
#include "platform/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace hocket::platform {

int move_out_of_the_way(int descriptor) {
  constexpr rlim_t kHighest = 512;
  rlimit limit{};
  if (descriptor < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const int lowest = static_cast<int>(std::min(limit.rlim_cur / 2, kHighest));
  if (descriptor >= lowest) return descriptor;
  const int before = errno;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
  if (moved >= 0) close(descriptor);
  errno = before;
  return moved >= 0 ? moved : descriptor;
}

}  // namespace hocket::platform
