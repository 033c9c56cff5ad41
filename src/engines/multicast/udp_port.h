// SPDX-License-Identifier: BSD-3-Clause
// Multicast by UDP over IPv4 or IPv6: one socket, member of one group from when it is opened until it goes. Many
// datagrams pass the kernel at a time, where it knows how (UDP_SEGMENT, UDP_GRO): whichever layer has to cuts them.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>

#include "base/status.h"
#include "engines/multicast/address.h"
#include "engines/multicast/port.h"

namespace hocket::engines::multicast {

struct UdpOptions {
  GroupAddress group;
  Interface interface;
  uint8_t hops = 1;         // how many routers datagrams may pass, and one more
  uint64_t room = 1 << 20;  // bytes; the kernel gives what net.core.rmem_max allows
};

// Datagrams are no longer than what the interface carries in one piece. Members of this machine hear each other, too.
Result<std::unique_ptr<MulticastPort>> open_udp_port(const UdpOptions& options);

}  // namespace hocket::engines::multicast
