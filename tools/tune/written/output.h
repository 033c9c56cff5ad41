// SPDX-License-Identifier: BSD-3-Clause
// Where a new table goes, and what is said about it.
//
// Thread safety: none.
#pragma once

#include <string>

#include "tune/written/table.h"

namespace hocket::command {

// Whole or not at all: ranks of a running job may read the file at any time.
Status write_file(const std::string& path, const std::string& text);

struct Delivery {
  std::string path;        // the table's file
  bool json = false;       // to stdout everything that was measured, the table being part of it
  bool has_stdout = true;  // without a path and JSON the table goes there
};
Status deliver(const Delivery& to, const std::string& text, const Survey& survey, const Fit& fit);
// On stderr: what the budget was too short for; that the machine was busy; where the table is.
void say_what_became(const TuneOptions& options, const Survey& survey, double noise, const std::string& path);

}  // namespace hocket::command
