// SPDX-License-Identifier: BSD-3-Clause
// Whether ranks share cores, as hocket's communicators judge it.
//
// Thread safety: none. Collective over the world; the same on all ranks.
#pragma once

#include "bench/bench.h"

namespace hocket::bench {

bool ranks_share_cores(World& world);

}  // namespace hocket::bench
