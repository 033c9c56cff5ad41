// SPDX-License-Identifier: BSD-3-Clause
// Reading another process's memory by process_vm_readv (CMA), where the kernel allows it and where it pays.
//
// It needs ptrace rights over the peer and is often slower than two copies through shared memory (page pinning in a
// virtual machine), so it is never assumed: it is tried and timed on the spot.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace hocket::platform {

// Copies `bytes` from `remote` in `process` to `local`. kNotSupported: it isn't allowed, or the kernel has no such
// call, and trying again is useless; kPeerFailed: there is no such process; kInvalidArgument: no such memory. On
// failure `local` may have been written in part.
Status read_process_memory(int process, const void* remote, void* local, size_t bytes);

}  // namespace hocket::platform
