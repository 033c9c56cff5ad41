// SPDX-License-Identifier: BSD-3-Clause
// Which calls are short enough for NIC engines.
//
// Thread safety: pure.
#pragma once

#include <cstdint>

#include "schedule/collective.h"
#include "schedule/nodes.h"

namespace hocket::engines::nic {

constexpr uint64_t words_for(uint64_t bytes) { return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t); }

// Whether engines carry out calls of the collective on such nodes, with so many bytes (of a block, where there is one a
// rank): barriers always, and of others what fits into an operand.
bool is_short(schedule::Collective collective, uint64_t bytes, const schedule::Nodes& nodes);

}  // namespace hocket::engines::nic
