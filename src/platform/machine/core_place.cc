// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/core_place.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "base/size_text.h"
#include "platform/machine/memory_domain.h"

namespace hocket::platform {
namespace {

// Where the third level of caches is: the first two have a folder for instructions and one for data.
constexpr const char* kThirdLevel = "/cache/index3/";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string folder_of(const std::string& folder, int processor) { return folder + "/cpu" + std::to_string(processor); }

int first_of(const cpu_set_t& processors) {
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &processors)) return processor;
  return -1;
}

// The processors that the file lists, if there are any.
std::optional<cpu_set_t> listed(const std::string& path) {
  const std::optional<cpu_set_t> processors = parse_processors(first_line(path));
  if (!processors || CPU_COUNT(&*processors) == 0) return std::nullopt;
  return processors;
}

std::optional<uint32_t> group_of(const cpu_set_t& allowed, const std::string& path) {
  const std::optional<cpu_set_t> group = listed(path);
  if (!group) return std::nullopt;
  cpu_set_t common;
  CPU_AND(&common, &allowed, &*group);
  if (!CPU_EQUAL(&common, &allowed)) return std::nullopt;
  return static_cast<uint32_t>(first_of(*group));
}

}  // namespace

CorePlace core_place_of(const cpu_set_t& allowed, const std::string& folder) {
  const int first = first_of(allowed);
  if (first < 0) return {};
  const std::string processor = folder_of(folder, first);
  return {group_of(allowed, processor + kThirdLevel + "shared_cpu_list"),
          group_of(allowed, processor + "/topology/package_cpus_list")};
}

int core_of(int processor, const std::string& folder) {
  const auto threads = listed(folder_of(folder, processor) + "/topology/thread_siblings_list");
  return threads ? first_of(*threads) : processor;
}

CacheGroups cache_groups_of(const cpu_set_t& allowed, const std::string& folder) {
  CacheGroups groups;
  std::set<int> caches;
  std::set<int> sockets;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &allowed)) continue;
    const std::string processor = folder_of(folder, number);
    if (const auto socket = listed(processor + "/topology/package_cpus_list")) sockets.insert(first_of(*socket));
    const auto cache = listed(processor + kThirdLevel + "shared_cpu_list");
    if (!cache || !caches.insert(first_of(*cache)).second) continue;
    const Result<uint64_t> bytes = parse_size(first_line(processor + kThirdLevel + "size"));
    if (bytes.is_ok()) groups.cache_kib += bytes.value() / 1024;
  }
  groups.caches = std::max<uint32_t>(static_cast<uint32_t>(caches.size()), 1);
  groups.sockets = std::max<uint32_t>(static_cast<uint32_t>(sockets.size()), 1);
  return groups;
}

}  // namespace hocket::platform
