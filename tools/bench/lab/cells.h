// SPDX-License-Identifier: BSD-3-Clause
// What `hocket lab bench` measures, cell after cell, in labs of its own; how far it is, it says on stderr.
//
// Thread safety: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/lab/table.h"
#include "bench/lab/variants.h"

namespace hocket::command {

// In the order in which they are measured.
std::vector<Cell> cells_of(const BenchOptions& options, const std::string& switch_name);

// Written anew with each cell, so that what has been measured is kept. Others, /dev/stdout among them, are written to
// once, at the end.
bool is_plain_file(const std::string& path);
bool save(const std::string& path, const nlohmann::ordered_json& rows);

// All of them on each switch: prints the table, adds to the rows and gives the exit code.
int run_cells(const BenchOptions& options, const std::vector<lab_bench::Variant>& variants,
              nlohmann::ordered_json& rows);

}  // namespace hocket::command
