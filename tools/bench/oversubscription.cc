// SPDX-License-Identifier: BSD-3-Clause
#include "bench/oversubscription.h"

#include <vector>

#include "platform/bootstrap/connector.h"
#include "platform/machine/topology.h"

namespace hocket::bench {

namespace {

std::vector<platform::CoreClaim> claims_of(World& world) {
  const platform::CpuBudget cores = platform::read_cpu_budget();
  const platform::CoreClaim own{
      platform::address_here(0).boot_hash, {cores.allowed_bits[0], cores.allowed_bits[1]}, cores.quota};
  std::vector<platform::CoreClaim> claims(static_cast<size_t>(world.size()));
  world.allgather(&own, claims.data(), sizeof own);
  return claims;
}

}  // namespace

bool ranks_share_cores(World& world) { return platform::ranks_share_cores(claims_of(world)); }

uint32_t cores_of_ranks(World& world) { return platform::cores_of(claims_of(world)); }

}  // namespace hocket::bench
