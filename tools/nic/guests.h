// SPDX-License-Identifier: BSD-3-Clause
// Which users may use a NIC engine, and how much of it: the credentials that the kernel gives decide.
//
// Thread safety: any number of threads.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "protocol/table.h"

namespace hocket::nic {

struct Guests {
  bool everybody = false;
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
  // Limits of each user but root, because an engine is shared.
  uint32_t groups_per_user = NIC_MOST_GROUPS / 4;
  uint32_t members_per_user = 4 * NIC_MOST_MEMBERS;  // of all these groups together: half of what a kernel's engine has
  uint32_t operands_per_user = 16384;                // the same: half of the kernel's as well
  uint32_t connections_per_user = 1024;
};

// `socket` is connected to `who`.
bool may_enter(const ucred& who, int socket, const Guests& guests);

// Whether the process could make a raw socket by itself: root of this user namespace, and not deprived of that.
bool may_send_raw(const ucred& who);

}  // namespace hocket::nic
