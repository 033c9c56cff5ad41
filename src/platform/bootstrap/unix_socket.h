// SPDX-License-Identifier: BSD-3-Clause
// Abstract Unix sockets that keep message borders, and descriptors passed over them. Everything is non-blocking and
// closed on exec; functions that can run out of descriptors raise the soft limit to the hard one before they give up.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace hocket::platform {

// What a call on a non-blocking socket came to.
enum class Progress : uint8_t { kDone, kTryLater, kEnded };

struct PeerCredentials {
  uint32_t user = UINT32_MAX;
  int process = 0;  // 0: not visible from this process's pid namespace
};

// Another descriptor of the same.
Result<int> duplicate(int descriptor);

// `name` without the leading zero byte; it vanishes with the socket.
Result<int> listen_abstract(const std::string& name);

// On kDone `socket` is connected, if possibly not yet accepted; kEnded: no process listens under that name.
Result<Progress> connect_abstract(const std::string& name, int* socket);

// On kDone `socket` is the caller's; kTryLater: no connection is waiting.
Result<Progress> accept_connection(int listener, int* socket);

Result<PeerCredentials> peer_credentials(int socket);

// Becomes readable when the process that connected (or listened) ends, even if a forked child of it has kept the
// socket open. -1 where the kernel can't say.
int open_peer_process(int socket, const PeerCredentials& credentials);

Result<Progress> send_with_descriptor(int socket, std::span<const std::byte> bytes, int descriptor);

// One message, of at most buffer.size() bytes (more is cut, and `length` then is larger than the buffer). Of the
// descriptors that came along the first is given, -1 if there was none; others are closed.
Result<Progress> receive_with_descriptor(int socket, std::span<std::byte> buffer, size_t* length, int* descriptor);

}  // namespace hocket::platform
