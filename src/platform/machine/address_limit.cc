// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/address_limit.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace hocket::platform {
namespace {

struct Locking {
  uint64_t kilobytes = 0;
  uint64_t capabilities = 0;
};

Locking read_locking() {
  Locking found;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key == "VmLck:") status >> found.kilobytes;
    if (key == "CapEff:") status >> std::hex >> found.capabilities >> std::dec;
  }
  return found;
}

// mlockall(MCL_FUTURE), by a process that is not free to lock what it likes.
bool counts_mappings_as_locked() {
  const Locking before = read_locking();
  if ((before.capabilities >> CAP_IPC_LOCK & 1) != 0) return false;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return true;  // nothing more can be mapped, whatever the reason
  const Locking between = read_locking();
  munmap(at, page);
  // Other threads may lock and unlock meanwhile.
  return between.kilobytes > before.kilobytes && read_locking().kilobytes < between.kilobytes;
}

}  // namespace

std::optional<AddressLimit> address_limit() {
  std::optional<AddressLimit> least;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) least = {limit.rlim_cur, "ulimit -v"};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      (!least || limit.rlim_cur < least->bytes) && counts_mappings_as_locked()) {
    least = {limit.rlim_cur, "ulimit -l"};
  }
  return least;
}

}  // namespace hocket::platform
