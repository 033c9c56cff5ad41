// SPDX-License-Identifier: BSD-3-Clause
// What this process may use of the machine: cores, as the affinity mask and the cgroup's quota leave them.
//
// Thread safety: any thread.
#pragma once

#include <sched.h>

#include <cstdint>
#include <span>
#include <string>

namespace hocket::platform {

struct CpuBudget {
  cpu_set_t allowed;  // affinity mask of the calling thread
  uint32_t allowed_count = 1;
  double quota = 0;               // cores by cgroup (v1 or v2, any level); 0: no limit
  uint64_t allowed_bits[2] = {};  // the mask's first 128 processors, to be sent to peers

  // Whole cores that can run at the same time; 1 at least.
  uint32_t usable() const;
};

CpuBudget read_cpu_budget();

// Whether ranks with these masks (as allowed_bits) and quotas each have a core of their own. Cautious where it can't
// be known: ranks whose processors all lie past the first 128 have none, and a quota is taken to be shared by all.
bool has_core_each(const uint64_t (*allowed_bits)[2], const double* quotas, uint32_t ranks);

// What a rank says of the processors that it may use.
struct CoreClaim {
  uint64_t machine = 0;  // Address::boot_hash
  uint64_t allowed_bits[2] = {};
  double quota = 0;
};
// Whether ranks share cores on any machine. Nodes may be containers of one.
bool ranks_share_cores(std::span<const CoreClaim> claims);
// How many cores ranks may use together on the machine where these are most, of the first 128; 1 at least.
uint32_t cores_of(std::span<const CoreClaim> claims);

}  // namespace hocket::platform
