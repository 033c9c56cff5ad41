// SPDX-License-Identifier: BSD-3-Clause
// What is known of a lab, and where it is kept: a folder of its name below root(), on a file system of its own.
//
//   state.json       this structure
//   hosts            what its nodes see as /etc/hosts
//   switch/net       the network namespace of the switch
//   n0/net uts ipc   the namespaces of a node; n0/shm is its /dev/shm
//   bpf/             maps and programs of the switch, while there are any
//   jobs/ID/         what belongs to a running `hocket lab mpirun`
//   relay            locked by the relay process, while there is one
//
// The folder is mounted, so unmounting it takes everything away at once, whatever state it is in.
//
// Thread safety: any thread; one that changes anything holds the Lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "lab/netlink.h"
#include "platform/descriptor.h"

namespace hocket::lab {

enum class SwitchKind : uint8_t { kBridge, kRedirect };
const char* switch_name(SwitchKind kind);

// Interfaces of the switch's namespace. Numbers are ours to choose there.
inline constexpr const char* kBridgeName = "switch";
inline constexpr int kBridgeIndex = 2;
inline constexpr int kRelayIndex = 3;
inline constexpr int kFirstPort = 100;  // port of node 0
inline constexpr uint32_t kPortGroup = 77;
// A node's one interface besides lo.
inline constexpr const char* kNodeInterface = "eth0";
inline constexpr int kNodeInterfaceIndex = 2;

inline constexpr int kPrefixLength = 23;  // room for kMostNodes
inline constexpr int kMostSubnets = 128;
inline constexpr int kIpv6PrefixLength = 64;

struct Lab {
  std::string name;
  int nodes = 0;
  int subnet = 0;  // of 10.77.0.0/16, from 0
  int ranks_per_node = 1;
  SwitchKind switch_kind = SwitchKind::kBridge;
  std::vector<int> cores;    // that nodes have among them, each its own; empty: all nodes use all cores
  bool is_complete = false;  // false: it is being built, or building it was ended halfway

  std::string directory() const;
  std::string node_directory(int node) const;
  std::string node_network(int node) const { return node_directory(node) + "/net"; }
  std::string switch_directory() const { return directory() + "/switch"; }
  std::string switch_network() const { return switch_directory() + "/net"; }
  std::string programs_directory() const { return directory() + "/bpf"; }
  std::string jobs_directory() const { return directory() + "/jobs"; }
  uint32_t network() const;  // in host order, as
  uint32_t address(int node) const;
  std::string address_text(int node) const;
  std::string subnet_text() const;
  // Unique local ones (RFC 4193), a /64 for each lab, numbered like the others: n0 of subnet 3 has fd0a:4d:0:3::1.
  Ipv6Address ipv6_address(int node) const;
  std::string ipv6_address_text(int node) const;
  MacAddress mac_address(int node) const;
  // Of a node: some of `cores`; where there are more nodes than cores, one that it shares with other nodes.
  std::vector<int> cores_of(int node) const;
};

// Whether nodes have IPv6 addresses: the kernel may be without.
bool has_ipv6();
std::string node_name(int node);
std::string address_text(uint32_t address);

// Where labs are kept: HOCKET_LAB_DIRECTORY.
std::string root();
std::string directory_of(const std::string& name);
// Of all labs that have a folder, damaged ones too.
std::vector<std::string> names();
// Whether a lab's file system is mounted on that folder.
bool is_home(const std::string& folder);
// Of that file system, by which it is known.
inline constexpr const char* kHomeSource = "hocket-lab";
bool exists(const std::string& name);

// An error where there is no such lab, or its state can't be read.
Result<Lab> load(const std::string& name);
Status save(const Lab& lab);

// `name`, or where it is empty the only lab there is. Refuses labs that are not complete.
Result<Lab> find(const std::string& name);

// Labs are built, changed and removed one at a time. The kernel lets go of it if the process is killed.
class Lock {
 public:
  static Result<Lock> take();
  // Removes root() where nothing is left in it.
  void tidy_up() const;

 private:
  explicit Lock(platform::Descriptor folder) : folder_(std::move(folder)) {}
  platform::Descriptor folder_;
};

// Labs need root; this says so.
Status need_root();

}  // namespace hocket::lab
