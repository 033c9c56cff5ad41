// SPDX-License-Identifier: BSD-3-Clause
#include "platform/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket::platform {
namespace {

// struct sched_attr of sched_setattr(2) in its first version; glibc has none.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

constexpr uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK

bool read(Attributes& attributes) {
  return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER;
}

}  // namespace

int64_t time_slice_ns() {
  Attributes attributes;
  return read(attributes) ? static_cast<int64_t>(attributes.runtime_ns) : 0;
}

bool shorten_time_slice(int64_t slice_ns) {
  Attributes attributes;
  // Before 6.12 no slice is told of ordinary threads, and one that is set is ignored.
  if (!read(attributes) || attributes.runtime_ns == 0) return false;
  if (static_cast<int64_t>(attributes.runtime_ns) <= slice_ns) return true;
  attributes.size = sizeof attributes;
  attributes.runtime_ns = static_cast<uint64_t>(slice_ns);
  // The same flag would raise a negative nice value of a child to 0.
  if (attributes.nice >= 0) attributes.flags |= kResetOnFork;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 && time_slice_ns() == slice_ns;
}

}  // namespace hocket::platform
