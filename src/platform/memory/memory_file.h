// SPDX-License-Identifier: BSD-3-Clause
// A file without a name, to be mapped by several processes: memfd, or an unlinked file where memfd is refused.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace hocket::platform {

// An empty file; the caller closes the descriptor. Others may extend it, but no process can shrink a memfd. `name`: by
// which /proc shows it, where it is a memfd.
Result<int> create_memory_file(const char* name = "hocket");

// The second choice alone: an unlinked file in /dev/shm, $TMPDIR or /tmp.
Result<int> create_unlinked_file();

// Extends the file from `from` to `to` bytes with pages that are really there. On failure the file may be longer than
// it was, but no signal is raised and no page that was there is lost.
Status extend_file(int descriptor, uint64_t from, uint64_t to);

// Bytes this process may use at most: physical memory, or the memory cgroup's limit if that is less.
uint64_t memory_budget();

}  // namespace hocket::platform
