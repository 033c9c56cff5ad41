// SPDX-License-Identifier: BSD-3-Clause
// Multicast by unreliable datagrams of InfiniBand or RoCE. What speaks to such devices is a library of its own, loaded
// when a port is first asked for, so that libhocket depends on none of theirs.
//
// Thread safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "engines/multicast/address.h"
#include "engines/multicast/port.h"

namespace hocket::engines::multicast {

struct VerbsOptions {
  GroupAddress group;  // IPv4; its port means nothing here
  Interface interface;
  uint8_t hops = 1;         // how many routers datagrams may pass, and one more; RoCE only
  uint64_t room = 1 << 20;  // bytes of datagrams that have come; memory that is locked
};

// Looks for the library in `directory`, or where this code lies if that is empty, then in the folder hocket/ there, and
// then where the system looks.
Result<std::unique_ptr<MulticastPort>> open_verbs_port(const VerbsOptions& options, const std::string& directory = {});

// What the library has to give. The number changes when what passes between it and libhocket does.
inline constexpr const char* kVerbsLibrary = "libhocket-multicast-verbs.so";
inline constexpr const char* kVerbsEntry = "hocket_open_verbs_port_2";
using VerbsEntry = void (*)(const VerbsOptions& options, Result<std::unique_ptr<MulticastPort>>& port);

}  // namespace hocket::engines::multicast
