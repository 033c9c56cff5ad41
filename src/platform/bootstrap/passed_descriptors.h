// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that go with a message over a Unix socket (SCM_RIGHTS).
//
// Thread safety: pure functions.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "platform/descriptor.h"

namespace hocket::platform {

// What the kernel writes about them, or reads, beside the message.
template <size_t kMost>
struct alignas(cmsghdr) RoomForDescriptors {
  char bytes[CMSG_SPACE(kMost * sizeof(int))] = {};
};

// To be sent: the sender keeps its own. At least one, and no more than there is room for.
template <size_t kMost>
void attach_descriptors(msghdr& message, RoomForDescriptors<kMost>& room, std::span<const int> descriptors) {
  message.msg_control = room.bytes;
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

// Before a message is received.
template <size_t kMost>
void expect_descriptors(msghdr& message, RoomForDescriptors<kMost>& room) {
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
}

// After it has been: take(Descriptor) for each that came, in order; what it doesn't keep is closed.
template <typename Take>
void take_descriptors(msghdr& message, const Take& take) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int passed = -1;
      std::memcpy(&passed, CMSG_DATA(header) + i * sizeof passed, sizeof passed);
      take(Descriptor(passed));
    }
  }
}

}  // namespace hocket::platform
