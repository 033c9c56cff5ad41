// SPDX-License-Identifier: BSD-3-Clause
#include "platform/descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace hocket::platform {

namespace {

// -1: unknown.
int lowest_out_of_the_way() {
  constexpr rlim_t kHighest = 512;
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 ? -1 : static_cast<int>(std::min(limit.rlim_cur / 2, kHighest));
}

}  // namespace

int move_out_of_the_way(int descriptor) {
  const int lowest = lowest_out_of_the_way();
  if (descriptor < 0 || descriptor >= lowest) return descriptor;
  const int before = errno;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
  if (moved >= 0) close(descriptor);
  errno = before;
  return moved >= 0 ? moved : descriptor;
}

void make_room_out_of_the_way() {
  const int before = errno;
  const Descriptor moved(move_out_of_the_way(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  errno = before;
}

}  // namespace hocket::platform
