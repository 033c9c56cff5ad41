// SPDX-License-Identifier: BSD-3-Clause
// Shared memory where addresses, or memory that is locked, are limited.
#include "platform/machine/address_limit.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/child_process.h"
#include "platform/shared_regions.h"

namespace hocket::platform {
namespace {

#ifndef HOCKET_SANITIZED  // sanitizers need more addresses than that
TEST(SharedRegion, GivesNullWhereAddressesEnd) {
  const int status = in_child([] {
    const rlimit few{1024 * kMiB, 1024 * kMiB};
    setrlimit(RLIMIT_AS, &few);
    auto region = make_region(size_t{64} << 30);
    if (region->allocate(2048 * kMiB) != nullptr) return 1;
    return region->allocate(64 * kMiB) != nullptr ? 0 : 2;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

// Four ranks that share what `ulimit -v` allows can all map what all of them may share.
TEST(SharedRegion, DefaultLeavesRoomForPeersWhereAddressesAreLimited) {
  const int status = in_child([] {
    const rlimit few{8192 * kMiB, 8192 * kMiB};
    setrlimit(RLIMIT_AS, &few);
    auto region = make_region(0);
    region->share_among(4);
    if (region->allocate(1100 * kMiB) != nullptr) return 1;
    if (region->allocate(600 * kMiB) == nullptr) return 2;
    std::vector<std::shared_ptr<MappedRegion>> peers;
    for (int peer = 1; peer < 4; ++peer) {
      auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
      if (!mapped.is_ok() || !mapped.value()->reach(600 * kMiB).is_ok()) return 2 + peer;
      peers.push_back(mapped.take());
    }
    return 0;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

// In steps, too: who maps a peer's takes no more than that one shares.
TEST(SharedRegion, PeersMapNoMoreThanIsSharedWhereAddressesAreLimited) {
  const int status = in_child([] {
    const rlimit few{8192 * kMiB, 8192 * kMiB};
    setrlimit(RLIMIT_AS, &few);
    auto region = make_region(0);
    region->share_among(4);
    auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
    if (!mapped.is_ok()) return 1;
    size_t bytes = 0;
    for (size_t end = 8 * kMiB; end <= 600 * kMiB; end += 8 * kMiB) {
      const auto window = mapped.value()->reach(end);
      if (!window.is_ok()) return 2;
      bytes = window.value().bytes;
    }
    return bytes <= 600 * kMiB ? 0 : 3;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

TEST(SharedRegion, SharesNoMoreThanTheNarrowestPeerCanMap) {
  auto region = make_region(0);
  region->share_among(2, 256 * kMiB);
  EXPECT_EQ(region->allocate(128 * kMiB), nullptr);
  EXPECT_NE(region->allocate(32 * kMiB), nullptr);
}

// All that is mapped from now on counts as locked, and 6 MiB may be.
bool lock_like_anybody() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) != 0) return false;
  data[0].effective &= ~(1U << CAP_IPC_LOCK);
  const rlimit few{6 * kMiB, 6 * kMiB};
  return syscall(SYS_capset, &header, data) == 0 && setrlimit(RLIMIT_MEMLOCK, &few) == 0 &&
         mlockall(MCL_FUTURE | MCL_ONFAULT) == 0;
}

TEST(SharedRegion, TakesLessWhereMemoryIsLockedAndLimited) {
  const int status = in_child([] {
    if (!lock_like_anybody()) return 77;
    const std::optional<AddressLimit> limit = address_limit();
    if (!limit || limit->bytes != 6 * kMiB || limit->setting != std::string_view("ulimit -l")) return 1;
    auto region = make_region(0);
    if (region->allocate(kMiB) == nullptr) return 2;
    if (region->allocate(16 * kMiB) != nullptr) return 3;
    auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
    if (!mapped.is_ok()) return 4;
    const auto reached = mapped.value()->reach(64 * kMiB);
    if (reached.is_ok()) return 5;
    return std::strstr(reached.status().message(), "ulimit -l") != nullptr ? 0 : 6;
  });
  if (status == 77) GTEST_SKIP() << "this process may not lock memory";
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}
#endif

}  // namespace
}  // namespace hocket::platform
