// SPDX-License-Identifier: BSD-3-Clause
// A choice whose messages between nodes NIC engines carry out, as they do under an MPI (docs/nic.md): the tables of the
// nodes' engines, and what they are to do. What ranks do then is algorithms::triggered_plan().
//
// Thread safety: pure.
#pragma once

#include "base/status.h"
#include "engines/nic/stage_table.h"
#include "schedule/nodes.h"
#include "selection/choice.h"
#include "simulation/nic/job_engines.h"

namespace hocket::command {

struct EnginesMode {
  engines::nic::Mode mode = engines::nic::Mode::kCollective;
  bool asks_all = false;     // of barriers (engines::nic::broadcast_table)
  bool on_arrival = false;   // operands are combined as they come (engines::nic::Form)
  bool is_floating = false;  // doubles, not integers
};

// Barriers, and of up to 64 words broadcasts, reductions and all-reductions, of one rank a node or by one leader in
// each. kNotSupported: engines can't carry it out.
Result<simulation::EnginesCall> engines_call(const selection::Query& query, const schedule::Nodes& nodes, uint32_t root,
                                             EnginesMode mode, const selection::Choice& choice);

}  // namespace hocket::command
