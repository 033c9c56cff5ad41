// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of messages between nodes where an engine carries them out: the rank that stands for its node
// rings, and waits for what it gets.
//
// Thread safety: pure.
#pragma once

#include "algorithms/algorithm.h"
#include "schedule/builder.h"

namespace hocket::algorithms {

// As Algorithm::build of such a part; ranks are counted from the root.
void (*triggered(schedule::Collective collective))(schedule::Builder& builder);

// As make_plan(), with that in the place of an algorithm's messages, or of the part of a composition that goes between
// nodes. Members of the engine's group stand for their nodes.
schedule::Plan triggered_plan(Algorithm algorithm, schedule::Shape shape);

}  // namespace hocket::algorithms
