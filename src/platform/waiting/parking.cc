// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/parking.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "base/log.h"

namespace hocket::platform {
namespace {

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool register_asymmetric_barrier() {
  const long known = membarrier(MEMBARRIER_CMD_QUERY);
  constexpr long kNeeded = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  return known >= 0 && (known & kNeeded) == kNeeded && membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

void sleeper_barrier(bool asymmetric) {
  full_barrier();
  // The kernel interrupts the registered processes that run just now. Those that don't will have passed a barrier in
  // the scheduler before they run again.
  if (!asymmetric || membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0) return;
  // The call worked when we registered, so it has been forbidden since. The slow variant may still be allowed; if not,
  // we may miss a wake-up, and the sleep ends with its timeout.
  if (membarrier(MEMBARRIER_CMD_GLOBAL) == 0) return;
  static std::atomic<bool> reported{false};  // relaxed: guards a message only
  if (!reported.exchange(true, std::memory_order_relaxed)) {
    HOCKET_LOG_WARN("membarrier is refused, though it was not at first: waiting ranks may wake late");
  }
}

bool park(ParkingPlace& place, int64_t timeout_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  timeout_ns = std::max<int64_t>(timeout_ns, 0);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / kSecond);
  timeout.tv_nsec = static_cast<long>(timeout_ns % kSecond);
  // Not FUTEX_WAIT_PRIVATE: wakers are in other processes.
  const long result = syscall(SYS_futex, &place.parked, FUTEX_WAIT, 1, &timeout, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

void wake(ParkingPlace& place) {
  // Of several wakers one makes the call. Relaxed: the kernel's own locks order the exchange against FUTEX_WAIT's
  // comparison, and the data has been released before.
  if (place.parked.exchange(0, std::memory_order_relaxed) != 0) {
    syscall(SYS_futex, &place.parked, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
}

}  // namespace hocket::platform
