// SPDX-License-Identifier: BSD-3-Clause
// On which socket, and behind which cache of the last level, a process is bound.
//
// Thread safety: any thread.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hocket::platform {

inline constexpr const char* kProcessorFolder = "/sys/devices/system/cpu";

// Each by the number of its first processor.
struct CorePlace {
  std::optional<uint32_t> cache;   // the L3 that all processors of the mask share; none, or unknown
  std::optional<uint32_t> socket;  // likewise
};

// Reads two files of the kernel's, however many processors there are. `folder`: as kProcessorFolder.
CorePlace core_place_of(const cpu_set_t& allowed, const std::string& folder = kProcessorFolder);

// Of the hardware threads of a processor's core the first; of which the kernel doesn't say any, the processor itself.
int core_of(int processor, const std::string& folder = kProcessorFolder);

struct CacheGroups {
  uint32_t caches = 1;
  uint32_t sockets = 1;
  uint64_t cache_kib = 0;  // of all these caches; 0: unknown
};
// On how many of them the mask's processors are, of which each is looked at. What the kernel doesn't say counts as one.
CacheGroups cache_groups_of(const cpu_set_t& allowed, const std::string& folder = kProcessorFolder);

}  // namespace hocket::platform
