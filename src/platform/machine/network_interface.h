// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a network interface.
//
// Thread safety: any thread; of the calling thread's network namespace.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace hocket::platform {

struct NetworkInterface {
  std::string name;
  uint32_t index = 0;
  unsigned flags = 0;  // IFF_UP, IFF_MULTICAST, ...
  uint32_t mtu = 0;    // bytes
  uint32_t ip = 0;     // its first of IPv4, the network's order; 0: it has none
  bool is_ethernet = false;
  std::array<uint8_t, 6> mac = {};  // where it is
};

// kInvalidArgument: there is none of that name.
Result<NetworkInterface> find_network_interface(const std::string& name);

}  // namespace hocket::platform
