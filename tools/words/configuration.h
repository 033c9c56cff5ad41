// SPDX-License-Identifier: BSD-3-Clause
// What the environment asks of the choice of algorithms, as the ranks of a job will read it.
//
// Thread safety: any thread, as for base/environment.h.
#pragma once

#include <string>

#include "base/status.h"
#include "selection/table.h"

namespace hocket::command {

// What ranks use that may run on all cores of this machine that this process may, and name no table.
const selection::Table& shipped_table();
// HOCKET_TABLE's, or the built-in one.
Result<selection::Table> table_in_use();
// What the collective's variable forces; without an algorithm if it is not set.
Result<selection::Spec> forced_spec(schedule::Collective collective);
// Whether the table and everything forced can be understood.
Status check_configuration();

}  // namespace hocket::command
