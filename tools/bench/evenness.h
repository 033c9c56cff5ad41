// SPDX-License-Identifier: BSD-3-Clause
// How evenly ranks are let go when they have met: what they begin later than the first is counted as the time of
// whatever is measured, of either side.
//
// Thread safety: none. Collective over the world; the same on all ranks.
#pragma once

#include "bench/bench.h"

namespace hocket::bench {

// Between the first and the last rank that goes, of many meetings. Means something only where all ranks read one clock:
// on one machine.
Summary time_between_first_and_last(World& world);

}  // namespace hocket::bench
