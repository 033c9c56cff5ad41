// SPDX-License-Identifier: BSD-3-Clause
// Links, addresses and routes of a network namespace, asked of the kernel itself: a lab of 64 nodes would otherwise
// take hundreds of processes.
//
// A Netlink speaks to the namespace in which it was opened, wherever its thread goes afterwards.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "platform/descriptor.h"

namespace hocket::lab {

using MacAddress = std::array<uint8_t, 6>;
using Ipv6Address = std::array<uint8_t, 16>;

struct VethPair {
  std::string name;  // of the end in this namespace
  int index = 0;     // chosen by us: names and numbers of ports then need no table
  uint32_t group = 0;
  int master = 0;  // index of the bridge; 0: none
  std::string peer_name;
  int peer_index = 0;
  MacAddress peer_address = {};
  int peer_namespace = -1;  // descriptor
};

class Message;

class Netlink {
 public:
  // To the calling thread's network namespace.
  static Result<Netlink> open();

  // A bridge that forwards at once and sends multicast to all ports.
  Status add_bridge(const std::string& name, int index);
  Status add_veth(const VethPair& pair);
  Status set_up(int index);
  Status set_queue_length(int index, uint32_t packets);
  // `address` and `destination` in host order.
  Status add_address(int index, uint32_t address, int prefix_length);
  // In force at once: nobody is asked whether another has it.
  Status add_address(int index, const Ipv6Address& address, int prefix_length);
  // Which interface has an address, so that no node asks.
  Status add_neighbour(int index, uint32_t address, const MacAddress& hardware);
  Status add_neighbour(int index, const Ipv6Address& address, const MacAddress& hardware);
  // Of a bridge: what is for an address leaves by this port and no other, also before anything has come from there.
  Status add_forwarding(int port, const MacAddress& hardware);
  Status add_route(int index, uint32_t destination, int prefix_length);
  // All of the group at once, which takes the kernel no longer than one; ok where there is none.
  Status delete_group(uint32_t group);

 private:
  explicit Netlink(platform::Descriptor socket) : socket_(std::move(socket)) {}
  // `number`: also of the error, 0 if there is none; as errno.
  Status ask(Message& message, const std::string& what, int* number = nullptr);

  platform::Descriptor socket_;
  uint32_t sequence_ = 0;
};

}  // namespace hocket::lab
