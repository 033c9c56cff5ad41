// SPDX-License-Identifier: BSD-3-Clause
#include "nic/next_hop.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/descriptor.h"

namespace hocket::nic {
namespace {

using platform::Descriptor;

constexpr uint16_t kDiscardPort = 9;

struct Request {
  nlmsghdr header;
  union {
    rtmsg route;
    ndmsg neighbour;
  };
  char attributes[64];
};

void add_ip(Request& request, uint16_t kind, uint32_t ip) {
  auto* attribute =
      reinterpret_cast<rtattr*>(reinterpret_cast<char*>(&request) + NLMSG_ALIGN(request.header.nlmsg_len));
  attribute->rta_type = kind;
  attribute->rta_len = RTA_LENGTH(sizeof ip);
  std::memcpy(RTA_DATA(attribute), &ip, sizeof ip);
  request.header.nlmsg_len = NLMSG_ALIGN(request.header.nlmsg_len) + attribute->rta_len;
}

// The answer to one question; an error of the kernel's is its errno.
Status ask(Request& request, std::array<char, 4096>& answer) {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (socket.get() < 0) return Status::system("can't ask for routes", errno);
  request.header.nlmsg_flags = NLM_F_REQUEST;
  if (send(socket.get(), &request, request.header.nlmsg_len, 0) < 0)
    return Status::system("can't ask for routes", errno);
  const ssize_t length = recv(socket.get(), answer.data(), answer.size(), 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (length < 0) return Status::system("can't ask for routes", errno);
  if (!NLMSG_OK(header, length)) return Status::system("can't ask for routes", EBADMSG);
  if (header->nlmsg_type != NLMSG_ERROR) return Status::ok();
  return Status::system("no route", -static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error);
}

struct Route {
  uint32_t interface = 0;
  uint32_t gateway = 0;  // 0: the address is on the link
};

Result<Route> find_route(uint32_t ip) {
  Request request{};
  request.header.nlmsg_type = RTM_GETROUTE;
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.route);
  request.route.rtm_family = AF_INET;
  request.route.rtm_dst_len = 32;
  add_ip(request, RTA_DST, ip);
  alignas(nlmsghdr) std::array<char, 4096> answer;
  HOCKET_TRY(ask(request, answer));
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(header));
  auto left = static_cast<int>(RTM_PAYLOAD(header));
  Route found;
  for (const rtattr* a = RTM_RTA(route); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == RTA_OIF) std::memcpy(&found.interface, RTA_DATA(a), sizeof found.interface);
    if (a->rta_type == RTA_GATEWAY) std::memcpy(&found.gateway, RTA_DATA(a), sizeof found.gateway);
  }
  return found;
}

// Whether the kernel knows the neighbour's hardware address.
bool find_neighbour(uint32_t interface, uint32_t ip, std::array<uint8_t, 6>& mac) {
  Request request{};
  request.header.nlmsg_type = RTM_GETNEIGH;
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.neighbour);
  request.neighbour.ndm_family = AF_INET;
  request.neighbour.ndm_ifindex = static_cast<int>(interface);
  add_ip(request, NDA_DST, ip);
  alignas(nlmsghdr) std::array<char, 4096> answer;
  if (!ask(request, answer).is_ok()) return false;
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  const auto* neighbour = static_cast<const ndmsg*>(NLMSG_DATA(header));
  if ((neighbour->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0) return false;
  auto left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *neighbour));
  const auto* first = reinterpret_cast<const char*>(neighbour) + NLMSG_ALIGN(sizeof *neighbour);
  for (const auto* a = reinterpret_cast<const rtattr*>(first); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type != NDA_LLADDR || RTA_PAYLOAD(a) != mac.size()) continue;
    std::memcpy(mac.data(), RTA_DATA(a), mac.size());
    return true;
  }
  return false;
}

// Makes the kernel ask the network for the owner of the address.
void provoke(uint32_t ip) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ip;
  address.sin_port = htons(kDiscardPort);
  (void)sendto(socket.get(), "", 0, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Status wrong(const std::string& name, const std::string& why) {
  return {Code::kInvalidArgument, "interface `" + name + "` " + why + "; `ip address` shows what there is"};
}

}  // namespace

std::string ip_text(uint32_t ip) {
  char text[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &ip, text, sizeof text);
}

Result<Interface> engine_interface(const std::string& name) {
  Result<Interface> found = platform::find_network_interface(name);
  if (!found.is_ok()) return found;
  if ((found.value().flags & IFF_UP) == 0) return wrong(name, "is down");
  if (!found.value().is_ethernet) return wrong(name, "is no Ethernet");
  if (found.value().ip == 0) return wrong(name, "has no IPv4 address");
  return found;
}

std::string driver_of(const Interface& interface) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::memcpy(request.ifr_name, interface.name.c_str(), std::min(interface.name.size(), sizeof request.ifr_name - 1));
  ethtool_drvinfo about{};
  about.cmd = ETHTOOL_GDRVINFO;
  request.ifr_data = reinterpret_cast<char*>(&about);
  if (socket.get() < 0 || ioctl(socket.get(), SIOCETHTOOL, &request) != 0) return {};
  return {about.driver, strnlen(about.driver, sizeof about.driver)};
}

namespace {

std::string name_of(uint32_t interface) {
  char name[IF_NAMESIZE];
  return if_indextoname(interface, name) != nullptr ? name : "an interface that is gone";
}

}  // namespace

Result<std::array<uint8_t, 6>> next_hop(const Interface& interface, uint32_t ip) {
  Result<Route> route = find_route(ip);
  if (!route.is_ok()) return Status(Code::kNotSupported, "there is no route to " + ip_text(ip));
  if (route.value().interface != interface.index)
    return Status(Code::kNotSupported, "packets to " + ip_text(ip) + " go by " + name_of(route.value().interface) +
                                           ", not by the NIC engine's " + name_of(interface.index) +
                                           ": `hocket nic up` on that one");
  const uint32_t neighbour = route.value().gateway != 0 ? route.value().gateway : ip;
  std::array<uint8_t, 6> mac;
  if (find_neighbour(interface.index, neighbour, mac)) return mac;
  provoke(ip);
  return Status(Code::kInProgress, ip_text(neighbour) + " doesn't answer on " + name_of(interface.index));
}

}  // namespace hocket::nic
