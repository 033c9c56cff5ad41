// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts, reductions and allreductions along a tree that the caller gives, as a list of parents: of any shape,
// where registered algorithms have families of trees.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "schedule/plan.h"

namespace hocket::algorithms {

// "", or why it is no tree of the ranks 0 .. parents.size()-1 with root 0: parents[0] is 0, and a walk that goes from
// parent to parent comes to 0.
std::string flaw_of_parents(std::span<const uint32_t> parents);

// The plan of shape.rank, with `parents` of shape.size ranks and without a flaw, and root 0. Operands are combined
// after one's own in the order of the children's numbers, so for operations that commute.
schedule::Plan plan_along(std::span<const uint32_t> parents, schedule::Collective collective,
                          const schedule::Shape& shape);

}  // namespace hocket::algorithms
