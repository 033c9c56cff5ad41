// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/time_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

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

constexpr int64_t kShortestNs = 100'000;  // the kernel grants no shorter one

thread_local uint64_t usual_ns = 0;  // what this thread had before; 0: unchanged

bool read(Attributes& attributes) {
  return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER;
}

bool set(Attributes& attributes, uint64_t runtime_ns) {
  attributes.size = sizeof attributes;
  attributes.runtime_ns = runtime_ns;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
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
  const auto wanted = static_cast<uint64_t>(std::max(slice_ns, kShortestNs));
  const uint64_t before = attributes.runtime_ns;
  if (before <= wanted) return true;
  if (!set(attributes, wanted)) return false;
  if (usual_ns == 0) usual_ns = before;
  return true;
}

void restore_time_slice() {
  Attributes attributes;
  if (usual_ns != 0 && read(attributes)) (void)set(attributes, usual_ns);
  usual_ns = 0;
}

}  // namespace hocket::platform
