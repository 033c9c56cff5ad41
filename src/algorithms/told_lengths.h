// SPDX-License-Identifier: BSD-3-Clause
// Before a composition passes on blocks whose lengths only their own ranks see (Algorithm::passes_on), the ranks that
// do so are told them by their neighbours. Nothing goes between nodes for it: the other end of a block knows its
// length, too, and tells those who pass on there.
//
// Thread safety: pure functions.
#pragma once

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

// What every rank tells, like a gather within its node: `count` numbers of its own in the input, and in output block i
// those of the rank at place i of its node, if this rank passes on. Its own it knows.
schedule::Plan plan_of_lengths(const Algorithm& composition, const schedule::Shape& shape);

// How many numbers that are: the lengths of what a rank sends and of what it receives, or of its one block.
inline uint32_t lengths_to_tell(schedule::Collective collective, uint32_t size) {
  return collective == schedule::Collective::kAlltoall ? 2 * size : 1;
}

}  // namespace hocket::algorithms
