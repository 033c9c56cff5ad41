// SPDX-License-Identifier: BSD-3-Clause
#include "nic/lent_sockets.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "bpf/nic.h"

namespace hocket::nic {

using platform::Descriptor;

sockaddr_in socket_address(uint32_t ip, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ip;
  address.sin_port = port;
  return address;
}

Result<Descriptor> bound_socket(uint32_t ip, uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return Status::system("can't make a socket", errno);
  const sockaddr_in address = socket_address(ip, port);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::system("can't take UDP port " + std::to_string(ntohs(port)), errno);
  return socket;
}

Status hand_over(const Descriptor& socket, uint32_t user) {
  if (fchown(socket.get(), user, static_cast<gid_t>(-1)) == 0) return Status::ok();
  return Status::system("can't hand a socket over to user " + std::to_string(user), errno);
}

Result<Descriptor> make_raw_doorbell(const Interface& interface) {
  Descriptor doorbell(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = interface.index;
  if (doorbell.get() < 0 || bind(doorbell.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::system("can't make a doorbell", errno);
  return doorbell;
}

std::vector<std::byte> raw_ring(const Interface& interface, uint16_t port, const uint8_t (&mac)[6]) {
  struct {
    ethhdr ethernet;
    iphdr ip;
    udphdr udp;
  } __attribute__((packed)) head = {};
  static_assert(sizeof head == NIC_BEFORE_HEADER);
  std::memcpy(head.ethernet.h_dest, mac, sizeof mac);
  std::memcpy(head.ethernet.h_source, interface.mac.data(), interface.mac.size());
  head.ethernet.h_proto = htons(ETH_P_IP);
  head.ip.version = 4;
  head.ip.ihl = 5;
  head.ip.protocol = IPPROTO_UDP;
  head.udp.dest = htons(port);
  head.udp.len = htons(uint16_t{NIC_UDP_BYTES} + uint16_t{NIC_HEADER_BYTES});
  std::vector<std::byte> ring(NIC_FRAME_BYTES);
  std::memcpy(ring.data(), &head, sizeof head);
  return ring;
}

Result<Descriptor> make_udp_doorbell(uint32_t own_ip, const nic_peer& peer, uint32_t user) {
  Result<Descriptor> doorbell = bound_socket(own_ip, 0);
  if (!doorbell.is_ok()) return doorbell;
  HOCKET_TRY(hand_over(doorbell.value(), user));
  const int yes = 1;
  const sockaddr_in address = socket_address(peer.ip, peer.port);
  // What the packet becomes has no checksum of UDP's.
  if (setsockopt(doorbell.value().get(), SOL_SOCKET, SO_NO_CHECK, &yes, sizeof yes) != 0 ||
      connect(doorbell.value().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::system("can't make a doorbell", errno);
  return doorbell;
}

Result<uint64_t> cookie_of(const Descriptor& socket) {
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0) return cookie;
  return Status::system("can't find the cookie of a socket", errno);
}

}  // namespace hocket::nic
