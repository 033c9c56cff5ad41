// SPDX-License-Identifier: BSD-3-Clause
#include "lab/building/build.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "lab/building/remove.h"
#include "lab/building/survey.h"
#include "lab/namespaces.h"
#include "lab/packets/switch_programs.h"
#include "lab/words.h"
#include "platform/machine/topology.h"

namespace hocket::lab {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMulticast = 224u << 24;
constexpr int kMulticastPrefixLength = 4;
constexpr int kLoopbackIndex = 1;

Result<int> free_subnet() {
  std::array<bool, kMostSubnets> is_used{};
  for (const std::string& name : names()) {
    if (const Result<Lab> other = load(name); other.is_ok()) is_used[static_cast<size_t>(other.value().subnet)] = true;
  }
  const auto free = std::find(is_used.begin(), is_used.end(), false);
  if (free == is_used.end())
    return Status(Code::kSystem, "there are 256 labs already: remove some by `hocket lab down`");
  return static_cast<int>(free - is_used.begin());
}

Status make_folder(const std::string& folder, mode_t mode = 0755) {
  if (mkdir(folder.c_str(), mode) != 0 || chmod(folder.c_str(), mode) != 0)
    return Status::system("can't make " + folder, errno);
  return Status::ok();
}

Status make_home(const Lab& lab) {
  HOCKET_TRY(make_folder(lab.directory()));
  if (mount(kHomeSource, lab.directory().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0)
    return Status::system("can't mount a file system on " + lab.directory() + " (a container needs CAP_SYS_ADMIN)",
                          errno);
  // What is mounted here later is seen here only.
  if (mount(nullptr, lab.directory().c_str(), nullptr, MS_PRIVATE, nullptr) != 0)
    return Status::system("can't make " + lab.directory() + " private", errno);
  HOCKET_TRY(save(lab));
  HOCKET_TRY(make_folder(lab.switch_directory()));
  HOCKET_TRY(make_folder(lab.programs_directory()));
  HOCKET_TRY(make_folder(lab.jobs_directory()));
  std::ofstream hosts(lab.directory() + "/hosts");
  hosts << "127.0.0.1 localhost\n";
  for (int node = 0; node < lab.nodes; ++node) hosts << lab.address_text(node) << " " << node_name(node) << "\n";
  hosts.close();
  return hosts ? Status::ok() : Status::system("can't write the hosts of " + lab.directory(), errno);
}

// Of the calling thread's network. What an older kernel doesn't have is left out.
void set_ipv6(const char* which, const char* what, const char* value) {
  std::ofstream setting(std::string("/proc/sys/net/ipv6/conf/") + which + "/" + what);
  setting << value;
}

// A switch has no addresses: its ports are quiet.
void switch_ipv6_off() {
  for (const char* which : {"all", "default"}) set_ipv6(which, "disable_ipv6", "1");
}

// For interfaces that are still to come. Addresses are given and known, so that nobody asks for them, nor for routers;
// and the kernel announces which groups it has joined within milliseconds, while packets count nothing yet, rather than
// within seconds.
void switch_ipv6_on() {
  for (const char* what : {"accept_dad", "dad_transmits", "accept_ra", "autoconf", "router_solicitations"})
    set_ipv6("default", what, "0");
  for (const char* what : {"mldv1_unsolicited_report_interval", "mldv2_unsolicited_report_interval"})
    set_ipv6("default", what, "1");
  for (const char* which : {"default", "all"}) set_ipv6(which, "disable_ipv6", "0");
}

Status make_switch(const Lab& lab) {
  HOCKET_TRY(pin_new_namespaces(lab.switch_directory(), {network_namespace()}, ""));
  Result<NetworkVisit> visit = NetworkVisit::enter(lab.switch_network());
  if (!visit.is_ok()) return visit.take_status();
  switch_ipv6_off();
  if (lab.switch_kind != SwitchKind::kBridge) return Status::ok();
  Result<Netlink> netlink = Netlink::open();
  if (!netlink.is_ok()) return netlink.take_status();
  return netlink.value().add_bridge(kBridgeName, kBridgeIndex);
}

Status make_node(const Lab& lab, int node) {
  HOCKET_TRY(make_folder(lab.node_directory(node)));
  HOCKET_TRY(make_folder(lab.node_directory(node) + "/shm", 01777));
  HOCKET_TRY(make_folder(lab.node_directory(node) + "/sys"));
  return pin_new_namespaces(lab.node_directory(node), node_namespaces(), node_name(node));
}

Status connect_node(const Lab& lab, int node, Netlink& of_switch) {
  Result<platform::Descriptor> there = open_namespace(lab.node_network(node));
  if (!there.is_ok()) return there.take_status();
  VethPair pair;
  pair.name = node_name(node);
  pair.index = kFirstPort + node;
  pair.group = kPortGroup;
  pair.master = lab.switch_kind == SwitchKind::kBridge ? kBridgeIndex : 0;
  pair.peer_name = kNodeInterface;
  pair.peer_index = kNodeInterfaceIndex;
  pair.peer_address = lab.mac_address(node);
  pair.peer_namespace = there.value().get();

  Result<NetworkVisit> visit = NetworkVisit::enter(lab.node_network(node));
  if (!visit.is_ok()) return visit.take_status();
  switch_ipv6_on();
  HOCKET_TRY(of_switch.add_veth(pair));
  HOCKET_TRY(of_switch.set_up(pair.index));
  if (lab.switch_kind == SwitchKind::kBridge) HOCKET_TRY(of_switch.add_forwarding(pair.index, pair.peer_address));
  Result<Netlink> opened = Netlink::open();
  if (!opened.is_ok()) return opened.take_status();
  Netlink& of_node = opened.value();
  HOCKET_TRY(of_node.set_up(kLoopbackIndex));
  HOCKET_TRY(of_node.set_up(kNodeInterfaceIndex));
  HOCKET_TRY(of_node.add_address(kNodeInterfaceIndex, lab.address(node), kPrefixLength));
  const bool knows_ipv6 = has_ipv6();
  if (knows_ipv6) HOCKET_TRY(of_node.add_address(kNodeInterfaceIndex, lab.ipv6_address(node), kIpv6PrefixLength));
  // The kernel keeps a thousand neighbours for all namespaces together, but of those that are told it as many as there
  // are; and no sender waits for an answer to ARP that got lost.
  for (int other = 0; other < lab.nodes; ++other) {
    if (other == node) continue;
    HOCKET_TRY(of_node.add_neighbour(kNodeInterfaceIndex, lab.address(other), lab.mac_address(other)));
    if (knows_ipv6)
      HOCKET_TRY(of_node.add_neighbour(kNodeInterfaceIndex, lab.ipv6_address(other), lab.mac_address(other)));
  }
  return of_node.add_route(kNodeInterfaceIndex, kMulticast, kMulticastPrefixLength);
}

Status connect_nodes(const Lab& lab) {
  Result<Netlink> of_switch = Status(Code::kSystem, "");
  {
    Result<NetworkVisit> visit = NetworkVisit::enter(lab.switch_network());
    if (!visit.is_ok()) return visit.take_status();
    of_switch = Netlink::open();
    if (!of_switch.is_ok()) return of_switch.take_status();
  }
  for (int node = 0; node < lab.nodes; ++node) HOCKET_TRY(connect_node(lab, node, of_switch.value()));
  // Last: it would flood what each node announces of its groups of IPv6 to all others.
  return lab.switch_kind == SwitchKind::kBridge ? of_switch.value().set_up(kBridgeIndex) : Status::ok();
}

Status make(Lab& lab) {
  HOCKET_TRY(make_home(lab));
  HOCKET_TRY(make_switch(lab));
  for (int node = 0; node < lab.nodes; ++node) HOCKET_TRY(make_node(lab, node));
  HOCKET_TRY(connect_nodes(lab));
  if (lab.switch_kind == SwitchKind::kRedirect) HOCKET_TRY(load_programs(lab));
  lab.is_complete = true;
  return save(lab);
}

std::vector<int> usable_cores() {
  const platform::CpuBudget budget = platform::read_cpu_budget();
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &budget.allowed)) cores.push_back(core);
  return cores;
}

Status check(const BuildOptions& options) {
  HOCKET_TRY(need_root());
  HOCKET_TRY(check_name(options.name));
  if (options.nodes < 1 || options.nodes > kMostNodes)
    return {Code::kInvalidArgument,
            std::to_string(options.nodes) + " nodes: a lab has 1 to " + std::to_string(kMostNodes)};
  if (!exists(options.name)) return Status::ok();
  if (what_is_missing(options.name).empty())
    return {Code::kInvalidArgument, "lab " + options.name + " is up already: remove it by `hocket lab down " +
                                        options.name + "`, or give the new one another --name"};
  return remove(options.name);
}

}  // namespace

Result<Lab> build(const BuildOptions& options) {
  HOCKET_TRY(need_root());
  const Result<Lock> lock = Lock::take();
  if (!lock.is_ok()) return Status(lock.status().code(), lock.status().message());
  HOCKET_TRY(check(options));
  Result<int> subnet = free_subnet();
  if (!subnet.is_ok()) return subnet.take_status();
  Lab lab{options.name, options.nodes, subnet.value(), options.ranks_per_node, options.switch_kind, {}, false};
  if (options.own_cores) lab.cores = usable_cores();
  if (Status status = make(lab); !status.is_ok()) {
    (void)remove(lab.name).is_ok();
    lock.value().tidy_up();
    return status;
  }
  return lab;
}

}  // namespace hocket::lab
