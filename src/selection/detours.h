// SPDX-License-Identifier: BSD-3-Clause
// Vector collectives by compositions, whose ranks see different lengths: which blocks are passed on with others', and
// how many messages are few. All ranks must have the same answers.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "schedule/collective.h"

namespace hocket::selection {

// Bytes of a block. Longer ones are sooner there by themselves; to one root, which is all that messages wait for, they
// are so at once.
inline uint64_t longest_passed_on(schedule::Collective collective) {
  return schedule::base_of(collective) == schedule::Collective::kGather ? 512 : 2 << 10;
}

// Messages of an alltoallv to other nodes, a rank: as many would cost less by themselves than it takes to wait for
// those that pass them on. With more ranks than cores measured on 4 and 8 nodes (docs/benchmarks-clusters.md); else a
// guess from the times of a message and of a detour in shared memory.
constexpr uint64_t most_few_messages(bool oversubscribed) { return oversubscribed ? 5 : 2; }

}  // namespace hocket::selection
