// SPDX-License-Identifier: BSD-3-Clause
// The sockets that a kernel's engine lends to jobs: to ring with, and to sleep on.
//
// Thread safety: any thread.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "nic/next_hop.h"
#include "platform/descriptor.h"
#include "protocol/service.h"

namespace hocket::nic {

// IP and port big-endian, as everywhere here but for an engine's own port.
sockaddr_in socket_address(uint32_t ip, uint16_t port);

// For UDP; port 0: any free one. No other process can bind it, and the kernel does not answer packets that programs
// pass on to it.
Result<platform::Descriptor> bound_socket(uint32_t ip, uint16_t port);

// What a job sends by a socket that it was lent counts as sent by the job's user: rules on packets may ask.
Status hand_over(const platform::Descriptor& socket, uint32_t user);

// A doorbell for users who may send raw packets, and what they send to it for a ring: words go at NIC_BEFORE_HEADER.
// `mac`: where a packet could go.
Result<platform::Descriptor> make_raw_doorbell(const Interface& interface);
std::vector<std::byte> raw_ring(const Interface& interface, uint16_t port, const uint8_t (&mac)[6]);

// A doorbell for all other users; `peer` has to be there.
Result<platform::Descriptor> make_udp_doorbell(uint32_t own_ip, const nic_peer& peer, uint32_t user);

// By which the kernel's programs know it.
Result<uint64_t> cookie_of(const platform::Descriptor& socket);

}  // namespace hocket::nic
