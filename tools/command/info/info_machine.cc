// SPDX-License-Identifier: BSD-3-Clause
// The machine as hwloc sees it, and what of it this process may use.
#include <hwloc.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "command/report.h"
#include "platform/machine/cgroup.h"
#include "platform/machine/topology.h"

namespace hocket::command {
namespace {

class Topology {
 public:
  Topology() {
    // Its plugins find devices, which nobody asks for here, and are made for the hwloc that they were installed with.
    setenv("HWLOC_PLUGINS_PATH", "", 1);
    hwloc_topology_init(&topology_);
    // All of the machine, also what the cgroup forbids: that is reported on its own.
    hwloc_topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    loaded_ = hwloc_topology_load(topology_) == 0;
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  bool loaded() const { return loaded_; }
  int count(hwloc_obj_type_t type) const { return std::max(hwloc_get_nbobjs_by_type(topology_, type), 0); }
  hwloc_obj_t first(hwloc_obj_type_t type) const { return hwloc_get_obj_by_type(topology_, type, 0); }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool loaded_ = false;
};

std::string plural(int count, const char* noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

void add_cache(Section& section, const Topology& topology, hwloc_obj_type_t type, const char* key) {
  const hwloc_obj_t cache = topology.first(type);
  if (cache == nullptr || cache->attr->cache.size == 0) return;
  const int sharing = hwloc_bitmap_weight(cache->cpuset);
  section.add(key,
              bytes_to_text(cache->attr->cache.size) + " x " + std::to_string(topology.count(type)) + ", each for " +
                  plural(sharing, "processor"),
              {{"bytes", cache->attr->cache.size}, {"count", topology.count(type)}, {"processors_each", sharing}});
}

void add_topology(Section& section) {
  const Topology topology;
  if (!topology.loaded()) {
    section.add("topology", "hwloc could not read it", nullptr);
    return;
  }
  const int processors = topology.count(HWLOC_OBJ_PU);
  const int cores = topology.count(HWLOC_OBJ_CORE);
  const int packages = topology.count(HWLOC_OBJ_PACKAGE);
  section.add("processors",
              plural(processors, "processor") + " on " + plural(cores, "core") + " in " + plural(packages, "package"),
              {{"processors", processors}, {"cores", cores}, {"packages", packages}});
  uint64_t memory = 0;
  if (const hwloc_obj_t machine = topology.first(HWLOC_OBJ_MACHINE)) memory = machine->total_memory;
  const int nodes = topology.count(HWLOC_OBJ_NUMANODE);
  section.add("memory", bytes_to_text(memory) + " on " + plural(nodes, "NUMA node"),
              {{"bytes", memory}, {"numa_nodes", nodes}});
  add_cache(section, topology, HWLOC_OBJ_L2CACHE, "L2 cache");
  add_cache(section, topology, HWLOC_OBJ_L3CACHE, "L3 cache");
}

std::string mask_to_text(const cpu_set_t& mask) {
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &mask)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mask)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

void add_budget(Section& section) {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  const std::string mask = mask_to_text(budget.allowed);
  char quota[64] = "no quota";
  if (budget.quota > 0) std::snprintf(quota, sizeof(quota), "a quota of %.2f cores", budget.quota);
  section.add("usable cores",
              std::to_string(budget.usable()) + ": processors " + mask + " by affinity, " + quota + " by cgroup",
              {{"usable", budget.usable()},
               {"affinity", mask},
               {"quota", budget.quota > 0 ? nlohmann::ordered_json(budget.quota) : nlohmann::ordered_json(nullptr)}});
  section.add("waiting",
              "spin for up to " + plural(static_cast<int>(budget.usable()), "rank") + "; with more, yield, then sleep",
              {{"spin_up_to_ranks", budget.usable()}});
  if (const uint64_t limit = platform::cgroup_memory_limit(); limit != 0)
    section.add("memory limit", bytes_to_text(limit) + " by cgroup", limit);
}

}  // namespace

std::string bytes_to_text(uint64_t bytes) {
  static const char* const kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof(text), value == static_cast<uint64_t>(value) ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

Section machine_section() {
  Section section{"Machine", {}};
  utsname system{};
  uname(&system);
  section.add("kernel", std::string(system.sysname) + " " + system.release + " " + system.machine);
  add_topology(section);
  add_budget(section);
  return section;
}

}  // namespace hocket::command
