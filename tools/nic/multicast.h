// SPDX-License-Identifier: BSD-3-Clause
// How a group's packets for all of its members are addressed: an IPv4 multicast address that every engine makes from
// the group's id, of the range for use within an organisation (RFC 2365). Two groups that get the same one see each
// other's packets, and pass them over by their ids.
//
// Thread safety: pure, but for the socket's making: of the calling thread's network namespace.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "nic/next_hop.h"
#include "platform/descriptor.h"
#include "protocol/table.h"

namespace hocket::nic {

// Whether any message of the group's goes to all by one packet.
bool needs_multicast(const nic_group& group);

uint32_t multicast_ip(uint64_t group_id);  // big-endian
// Of a frame to such an address (RFC 1112, 6.4).
std::array<uint8_t, 6> multicast_mac(uint32_t ip);

// A socket for what comes to the address by the interface, at `port` (big-endian). As long as it is open the interface
// takes such frames, and switches that listen to IGMP send them.
Result<platform::Descriptor> join_multicast(const Interface& interface, uint32_t ip, uint16_t port);

}  // namespace hocket::nic
