// SPDX-License-Identifier: BSD-3-Clause
// What is worth measuring for a call.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "selection/choice.h"

namespace hocket::command {

// Every algorithm that can serve, with each degree that is worth trying; of several that come to the same schedule on
// all ranks, the first.
std::vector<std::string> candidates_for(const selection::Query& query);

}  // namespace hocket::command
