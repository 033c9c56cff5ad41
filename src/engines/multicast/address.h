// SPDX-License-Identifier: BSD-3-Clause
// Addresses of multicast groups and of the interfaces through which they are reached, IPv4 and IPv6 alike.
//
// Thread safety: any thread.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "platform/machine/network_interface.h"

namespace hocket::engines::multicast {

enum class Family : uint8_t { kIpv4, kIpv6 };

// Of a group, and the UDP port. Plain bytes: it goes to other machines.
struct GroupAddress {
  uint8_t bytes[16] = {};  // in the network's order; of IPv4 the first 4
  uint16_t port = 0;       // the host's order
  Family family = Family::kIpv4;

  bool operator==(const GroupAddress&) const = default;
};

// An address that no other job uses, unless by an unlikely chance: drawn from the kernel's generator. IPv4:
// organization-local scope (RFC 2365), 18 bits of it, and a dynamic port; IPv6: transient, site-local scope (RFC 4291),
// 112 bits.
Result<GroupAddress> draw_address(Family family);
// "239.1.2.3:5000", "[ff15::1]:5000"; without a port one that is made from the address.
Result<GroupAddress> parse_address(std::string_view text);
std::string to_text(const GroupAddress& address);

// Where datagrams of a group leave this machine and come in.
using Interface = platform::NetworkInterface;
// The interface called so or, if `name` is empty, the only one that takes multicast or, of several, with IPv4 the one
// to which the routes send the group's datagrams.
Result<Interface> find_interface(const std::string& name, Family family);

// What IP and UDP add to a datagram.
constexpr uint32_t header_bytes(Family family) { return family == Family::kIpv4 ? 28 : 48; }

}  // namespace hocket::engines::multicast
