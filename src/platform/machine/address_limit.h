// SPDX-License-Identifier: BSD-3-Clause
// How much a process may map, where a limit has been set.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace hocket::platform {

struct AddressLimit {
  uint64_t bytes;
  const char* setting;  // `ulimit -v`
};

// The narrowest, nothing where there is none. Of locked memory (`ulimit -l`) only where each mapping counts, which
// takes system calls to find out.
std::optional<AddressLimit> address_limit();

}  // namespace hocket::platform
