// SPDX-License-Identifier: BSD-3-Clause
// What is worth measuring for a call.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "selection/choice.h"

namespace hocket::command {

// Every algorithm that can serve, with each degree that is worth trying; between nodes also in segments, if the message
// is long and it can be cut, and compositions with each algorithm between nodes, which their names tell. Of several
// that come to the same schedule on all ranks, the first. `table`: by which the other parts of compositions are chosen.
std::vector<std::string> candidates_for(const selection::Query& query, const selection::Table& table = {});

}  // namespace hocket::command
