// SPDX-License-Identifier: BSD-3-Clause
// The yardstick: how long a cache line takes to another core and back, with nothing around it.
//
// Thread safety: for processes with one thread.
#pragma once

#include "bench/bench.h"

namespace hocket::command {

// Two processes bound to two cores. iterations == 0: summary.why_not says why it can't be measured.
bench::Row ping_pong(const bench::Options& options);

}  // namespace hocket::command
