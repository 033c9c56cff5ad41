// SPDX-License-Identifier: BSD-3-Clause
#include "nic/multicast.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <span>

namespace hocket::nic {
namespace {

constexpr uint32_t kOrganisation = 0xefc00000;  // 239.192.0.0/14
constexpr uint32_t kWithin = 0x0003ffff;
constexpr uint32_t kMacBits = 0x007fffff;

}  // namespace

bool needs_multicast(const nic_group& group) {
  const std::span programs(group.program, group.programs);
  return std::any_of(programs.begin(), programs.end(),
                     [](const nic_program& program) { return (program.flags & NIC_VOTES) != 0; });
}

uint32_t multicast_ip(uint64_t group_id) {
  // Ids of one communicator's groups follow one another: so do their addresses.
  return htonl(kOrganisation | (static_cast<uint32_t>(group_id ^ group_id >> 32) & kWithin));
}

std::array<uint8_t, 6> multicast_mac(uint32_t ip) {
  const uint32_t low = ntohl(ip) & kMacBits;
  return {0x01, 0x00, 0x5e, static_cast<uint8_t>(low >> 16), static_cast<uint8_t>(low >> 8), static_cast<uint8_t>(low)};
}

Result<platform::Descriptor> join_multicast(const Interface& interface, uint32_t ip, uint16_t port) {
  platform::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Status::system("can't make a socket", errno);
  const int yes = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ip;
  address.sin_port = port;
  ip_mreqn membership{};
  membership.imr_multiaddr.s_addr = ip;
  membership.imr_ifindex = interface.index;
  // Others' groups may have the same address.
  if (setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(socket.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0)
    return Status::system("can't join multicast address " + ip_text(ip) + " (the interface needs a route to it?)",
                          errno);
  return socket;
}

}  // namespace hocket::nic
