// SPDX-License-Identifier: BSD-3-Clause
// Two tuning tables on this machine: which is better where.
//
// Thread safety: none.
#pragma once

#include <string>

#include "tune/measure.h"

namespace hocket::command {

// In place of a table's file: a built-in one.
inline constexpr const char* kShipped = "shipped";

// `name`: a file, or "shipped": what ranks of this machine use where HOCKET_TABLE names none.
Result<selection::Table> table_named(const std::string& name);

// Each rank has a communicator for either table, as HOCKET_TABLE gives it; calls of both alternate within the same
// processes. Cells in which both choose the same are counted and not measured. Prints a table or JSON on stdout;
// returns an exit code.
int compare_tables(const TuneOptions& options, const std::string& first, const std::string& second, bool json,
                   Progress& progress);

}  // namespace hocket::command
