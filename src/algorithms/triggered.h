// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of messages between nodes where an engine carries them out: the rank that stands for its node
// rings, and waits for what it gets.
//
// Thread safety: pure.
#pragma once

#include "schedule/builder.h"

namespace hocket::algorithms {

// As Algorithm::build of such a part; ranks are counted from the root.
void (*triggered(schedule::Collective collective))(schedule::Builder& builder);

}  // namespace hocket::algorithms
