// SPDX-License-Identifier: BSD-3-Clause
// To which hardware address a packet for an IP address goes out, as the kernel's routes and neighbours have it.
//
// Thread safety: any thread; of the calling thread's network namespace.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace hocket::nic {

struct Interface {
  int index = 0;
  std::array<uint8_t, 6> mac = {};
  uint32_t ip = 0;     // big-endian: its first
  std::string driver;  // "": unknown
};

// kInvalidArgument: there is none of that name, it is down, no Ethernet, or has no IPv4 address.
Result<Interface> find_interface(const std::string& name);

// Where packets from `interface` to `ip` (big-endian) go next. kInProgress: the kernel doesn't know it, and has been
// made to ask the network: try again soon. kNotSupported: they go by another interface.
Result<std::array<uint8_t, 6>> next_hop(const Interface& interface, uint32_t ip);

// "10.1.2.3"
std::string ip_text(uint32_t ip);

}  // namespace hocket::nic
