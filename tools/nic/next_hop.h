// SPDX-License-Identifier: BSD-3-Clause
// To which hardware address a packet for an IP address goes out, as the kernel's routes and neighbours have it.
//
// Thread safety: any thread; of the calling thread's network namespace.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "platform/machine/network_interface.h"

namespace hocket::nic {

using Interface = platform::NetworkInterface;

// One that can have an engine. kInvalidArgument: there is none of that name, it is down, no Ethernet, or has no IPv4
// address.
Result<Interface> engine_interface(const std::string& name);
// "": unknown.
std::string driver_of(const Interface& interface);

// Where packets from `interface` to `ip` (big-endian) go next. kInProgress: the kernel doesn't know it, and has been
// made to ask the network: try again soon. kNotSupported: they go by another interface.
Result<std::array<uint8_t, 6>> next_hop(const Interface& interface, uint32_t ip);

// "10.1.2.3"
std::string ip_text(uint32_t ip);

}  // namespace hocket::nic
