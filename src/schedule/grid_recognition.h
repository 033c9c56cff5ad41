// SPDX-License-Identifier: BSD-3-Clause
// Lists of neighbours may come from a grid that nobody has told of, as those of MPI's distributed graphs do: it is
// found again where all ranks have neighbours at the same offsets on a torus, in the same order.
//
// Thread safety: pure functions.
#pragma once

#include <memory>

#include "schedule/neighbours.h"

namespace hocket::schedule {

// nullptr: none, or one on which nothing could be put together. Of several, the one with the fewest different steps.
std::unique_ptr<const Grid> recognised_grid(const Neighbours& neighbours);

}  // namespace hocket::schedule
