// SPDX-License-Identifier: BSD-3-Clause
// What `hocket run` tells each rank in the variable HOCKET_RUN: its number, and where its launcher listens.
//
// A variable of the environment, not a descriptor: it reaches the program also through wrappers that close descriptors.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hocket::platform {

struct LaunchPlace {
  uint32_t rank = 0;
  uint32_t size = 1;
  uint64_t socket[2] = {};  // random, names the launcher's socket
  uint64_t key[2] = {};     // random, shows the launcher that a rank of its own has come

  static constexpr uint32_t kMostRanks = 65536;
};

// "2/4:SOCKET:KEY", the last two in 32 hexadecimal digits; a script can take rank and size from its beginning.
std::string to_text(const LaunchPlace& place);
// Takes any text. The message says what is wrong with it and what to do.
Result<LaunchPlace> parse_launch_place(std::string_view text);

// Of the abstract Unix socket.
std::string launch_socket_name(const LaunchPlace& place);

}  // namespace hocket::platform
