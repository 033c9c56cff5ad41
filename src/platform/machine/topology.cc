// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/topology.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <iterator>
#include <map>
#include <vector>

#include "platform/machine/cgroup.h"

namespace hocket::platform {
namespace {

constexpr uint32_t kProcessors = 128;  // as many as masks have bits

// Kuhn's algorithm: looks for a processor for `rank`, moving others to different ones if need be.
bool place(uint32_t rank, const uint64_t (*allowed_bits)[2], std::vector<int>& owner, std::vector<char>& tried) {
  for (uint32_t processor = 0; processor < kProcessors; ++processor) {
    if ((allowed_bits[rank][processor / 64] >> (processor % 64) & 1) == 0 || tried[processor] != 0) continue;
    tried[processor] = 1;
    if (owner[processor] < 0 || place(static_cast<uint32_t>(owner[processor]), allowed_bits, owner, tried)) {
      owner[processor] = static_cast<int>(rank);
      return true;
    }
  }
  return false;
}

}  // namespace

uint32_t CpuBudget::usable() const {
  if (quota <= 0) return allowed_count;
  return std::clamp(static_cast<uint32_t>(std::min(quota, 1e6)), 1U, allowed_count);
}

CpuBudget read_cpu_budget() {
  CpuBudget budget;
  CPU_ZERO(&budget.allowed);
  if (sched_getaffinity(0, sizeof(budget.allowed), &budget.allowed) != 0) {
    // EINVAL: more processors than the set holds. All that are online, then.
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int processor = 0; processor < std::min<long>(online, CPU_SETSIZE); ++processor) {
      CPU_SET(processor, &budget.allowed);
    }
  }
  budget.allowed_count = static_cast<uint32_t>(std::max(CPU_COUNT(&budget.allowed), 1));
  for (uint32_t processor = 0; processor < kProcessors; ++processor) {
    if (CPU_ISSET(processor, &budget.allowed)) budget.allowed_bits[processor / 64] |= uint64_t{1} << (processor % 64);
  }
  budget.quota = cgroup_cpu_quota();
  return budget;
}

bool has_core_each(const uint64_t (*allowed_bits)[2], const double* quotas, uint32_t ranks) {
  // Ranks may share one cgroup or have one each, which can't be told from here. The least quota is taken for all:
  // taking a core for granted that isn't there costs time slices, yielding needlessly a fraction of a microsecond.
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (quotas[rank] > 0 && quotas[rank] < ranks) return false;
  }
  if (ranks > kProcessors) return false;
  std::vector<int> owner(kProcessors, -1);
  std::vector<char> tried(kProcessors);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    std::fill(tried.begin(), tried.end(), char{0});
    if (!place(rank, allowed_bits, owner, tried)) return false;
  }
  return true;
}

bool ranks_share_cores(std::span<const CoreClaim> claims) {
  struct Machine {
    std::vector<uint64_t> masks;
    std::vector<double> quotas;
  };
  std::map<uint64_t, Machine> machines;
  for (const CoreClaim& claim : claims) {
    Machine& machine = machines[claim.machine];
    machine.masks.insert(machine.masks.end(), {claim.allowed_bits[0], claim.allowed_bits[1]});
    machine.quotas.push_back(claim.quota);
  }
  return std::any_of(machines.begin(), machines.end(), [](const auto& entry) {
    const Machine& machine = entry.second;
    return !has_core_each(reinterpret_cast<const uint64_t(*)[2]>(machine.masks.data()), machine.quotas.data(),
                          static_cast<uint32_t>(machine.quotas.size()));
  });
}

uint32_t cores_of(std::span<const CoreClaim> claims) {
  struct Cores {
    uint64_t bits[2] = {};
    double quota = 0;  // the least that there is
  };
  std::map<uint64_t, Cores> machines;
  for (const CoreClaim& claim : claims) {
    Cores& cores = machines[claim.machine];
    for (size_t i = 0; i < std::size(cores.bits); ++i) cores.bits[i] |= claim.allowed_bits[i];
    if (claim.quota > 0) cores.quota = cores.quota > 0 ? std::min(cores.quota, claim.quota) : claim.quota;
  }
  uint32_t most = 1;
  for (const auto& [machine, cores] : machines) {
    auto count = static_cast<uint32_t>(std::popcount(cores.bits[0]) + std::popcount(cores.bits[1]));
    if (cores.quota > 0) count = std::min(count, static_cast<uint32_t>(std::clamp(cores.quota, 1.0, 1e6)));
    most = std::max(most, count);
  }
  return most;
}

}  // namespace hocket::platform
