// SPDX-License-Identifier: BSD-3-Clause
// Which cores the ranks have, and whether they share them, as hocket's communicators judge it.
//
// Thread safety: none. Collective over the world; the same on all ranks.
#pragma once

#include "bench/bench.h"

namespace hocket::bench {

bool ranks_share_cores(World& world);
// That they may use together on the machine where these are most.
uint32_t cores_of_ranks(World& world);

}  // namespace hocket::bench
