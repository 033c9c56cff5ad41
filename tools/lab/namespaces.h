// SPDX-License-Identifier: BSD-3-Clause
// Namespaces that live without a process: a file of the lab is mounted on each, and a process that opens it may enter.
//
// Thread safety: as said of each; entering concerns the calling thread only.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "platform/descriptor.h"

namespace hocket::lab {

struct NamespaceKind {
  const char* name;  // as in /proc/PID/ns, and the name of the file
  int flag;          // CLONE_NEW...
};
const NamespaceKind& network_namespace();
// What a node has of its own: network, host name, System V and POSIX message objects.
const std::vector<NamespaceKind>& node_namespaces();

// Makes one new namespace of each kind and mounts it on the file of its name in `folder`. `host_name`: "" leaves it.
Status pin_new_namespaces(const std::string& folder, const std::vector<NamespaceKind>& kinds,
                          const std::string& host_name);

// An error where the file is no namespace (any more).
Result<platform::Descriptor> open_namespace(const std::string& file);

// The number by which /proc names it ("net:[4026532301]"); 0 where the file is no namespace.
ino_t namespace_number(const std::string& file);

// While it lives the calling thread is in another network namespace.
class NetworkVisit {
 public:
  static Result<NetworkVisit> enter(const std::string& file);
  ~NetworkVisit();
  NetworkVisit(NetworkVisit&&) = default;
  NetworkVisit& operator=(NetworkVisit&&) = delete;

 private:
  explicit NetworkVisit(platform::Descriptor home) : home_(std::move(home)) {}
  platform::Descriptor home_;
};

}  // namespace hocket::lab
