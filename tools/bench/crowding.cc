// SPDX-License-Identifier: BSD-3-Clause
#include "bench/crowding.h"

#include <algorithm>
#include <map>

#include "platform/rendezvous.h"
#include "platform/topology.h"

namespace hocket::bench {

bool ranks_share_cores(World& world) {
  struct Rank {
    uint64_t machine;
    uint64_t masks[2];
    double quota;
  };
  const platform::CpuBudget cores = platform::read_cpu_budget();
  const Rank own{platform::address_here(0).boot_hash, {cores.allowed_bits[0], cores.allowed_bits[1]}, cores.quota};
  std::vector<Rank> ranks(static_cast<size_t>(world.size()));
  world.allgather(&own, ranks.data(), sizeof own);
  struct Machine {
    std::vector<uint64_t> masks;
    std::vector<double> quotas;
  };
  std::map<uint64_t, Machine> machines;
  for (const Rank& rank : ranks) {
    Machine& machine = machines[rank.machine];
    machine.masks.insert(machine.masks.end(), {rank.masks[0], rank.masks[1]});
    machine.quotas.push_back(rank.quota);
  }
  return std::any_of(machines.begin(), machines.end(), [](const auto& entry) {
    const Machine& machine = entry.second;
    return !platform::has_core_each(reinterpret_cast<const uint64_t(*)[2]>(machine.masks.data()), machine.quotas.data(),
                                    static_cast<uint32_t>(machine.quotas.size()));
  });
}

}  // namespace hocket::bench
