// SPDX-License-Identifier: BSD-3-Clause
// What is there of a lab, as opposed to what should be.
//
// Thread safety: any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

inline constexpr int kSwitchNode = -2;

struct LabProcess {
  pid_t process = 0;
  int node = 0;  // kSwitchNode: in the switch's namespace
  std::string program;
};

// The namespaces of all kinds that are mounted in the folder, whether or not the state knows of them: numbers by node.
struct LabNamespace {
  int node = 0;
  ino_t number = 0;
};
std::vector<LabNamespace> namespaces_of(const std::string& name);

// All processes in these namespaces.
std::vector<LabProcess> processes_in(const std::vector<LabNamespace>& namespaces);

// "" or what is missing: the lab is stale then.
std::string what_is_missing(const std::string& name);

// Packets and bytes that have passed a node's link, as its own interface counts them.
struct PortTraffic {
  uint64_t packets_from_node = 0;
  uint64_t bytes_from_node = 0;
  uint64_t packets_to_node = 0;
  uint64_t bytes_to_node = 0;
};
Result<std::vector<PortTraffic>> traffic_of(const Lab& lab);

}  // namespace hocket::lab
