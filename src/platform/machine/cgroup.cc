// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/cgroup.h"

#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

namespace hocket::platform {
namespace {

// A folder's least limit wins over that of its parents, and the other way round: every level counts.
template <typename T>
void keep_least(T& least, T value) {
  if (value > 0 && (least == 0 || value < least)) least = value;
}

bool lists(const std::string& controllers, const std::string& wanted) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == wanted) return true;
  }
  return false;
}

using Visit = std::function<void(const std::string& folder, bool version_2)>;

void visit_levels(const std::string& mount, std::string path, bool version_2, const Visit& visit) {
  // Inside a container the path may belong to the host's tree, and then only the mount's top is there to be read.
  while (true) {
    visit(mount + path, version_2);
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

// Calls `visit` for each folder that bears on this process, from its own cgroup up to the top.
void visit_all(const CgroupRoots& roots, const std::string& controller, const Visit& visit) {
  std::ifstream membership(roots.membership);
  for (std::string line; std::getline(membership, line);) {  // hierarchy:controllers:path
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      visit_levels(roots.mount, path, true, visit);
      visit_levels(roots.mount + "/unified", path, true, visit);
    } else if (lists(controllers, controller)) {
      visit_levels(roots.mount + "/" + controllers, path, false, visit);
      if (controllers != controller) visit_levels(roots.mount + "/" + controller, path, false, visit);
    }
  }
}

double read_number(const std::string& file) {
  std::ifstream stream(file);
  double value = 0;
  return stream >> value ? value : 0;
}

}  // namespace

double cgroup_cpu_quota(const CgroupRoots& roots) {
  double least = 0;
  visit_all(roots, "cpu", [&](const std::string& folder, bool version_2) {
    double quota = 0;
    double period = 0;
    if (version_2) {
      std::ifstream stream(folder + "/cpu.max");  // "QUOTA PERIOD", or "max PERIOD", which is no number
      if (!(stream >> quota >> period)) return;
    } else {
      quota = read_number(folder + "/cpu.cfs_quota_us");  // -1: none
      period = read_number(folder + "/cpu.cfs_period_us");
    }
    if (quota > 0 && period > 0) keep_least(least, quota / period);
  });
  return least;
}

uint64_t cgroup_memory_limit(const CgroupRoots& roots) {
  uint64_t least = 0;
  visit_all(roots, "memory", [&](const std::string& folder, bool version_2) {
    const double limit = read_number(folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (limit < 1e18) keep_least(least, static_cast<uint64_t>(limit));  // version 1 says "none" by a huge number
  });
  return least;
}

}  // namespace hocket::platform
