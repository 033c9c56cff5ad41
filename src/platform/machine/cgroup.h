// SPDX-License-Identifier: BSD-3-Clause
// The limits that control groups (version 1 or 2, at any level above this process) put on it.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

namespace hocket::platform {

// Where to look; other than the default only in tests.
struct CgroupRoots {
  std::string membership = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

// Cores, the least of all levels; 0: no limit.
double cgroup_cpu_quota(const CgroupRoots& roots = {});

// Bytes, the least of all levels; 0: no limit.
uint64_t cgroup_memory_limit(const CgroupRoots& roots = {});

}  // namespace hocket::platform
