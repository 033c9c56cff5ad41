// SPDX-License-Identifier: BSD-3-Clause
// Which NUMA domain of its machine a process is bound to.
//
// Thread safety: any thread.
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hocket::platform {

inline constexpr const char* kMemoryDomains = "/sys/devices/system/node";

// The one domain that holds all processors of the mask. nullopt: there is none, because the process may run in several,
// or the kernel doesn't say. `folder`: as kMemoryDomains.
std::optional<uint32_t> memory_domain_of(const cpu_set_t& allowed, const std::string& folder = kMemoryDomains);

// Processors as the kernel lists them, "0-3,8,10-11". nullopt: it isn't such a list.
std::optional<cpu_set_t> parse_processors(std::string_view list);

}  // namespace hocket::platform
