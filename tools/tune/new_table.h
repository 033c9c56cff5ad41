// SPDX-License-Identifier: BSD-3-Clause
// A new table: measures, makes rules, fits the model, writes it.
//
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "tune/measure.h"

namespace hocket::command {

struct NewTable {
  std::string output;   // a file; "": stdout
  std::string network;  // a file that simulations take, made of the same measurements; "": none
  bool json = false;    // everything that was measured
  std::string against;  // a table to compare it with, a file or "shipped"; "": none
  // Of a table that is made of earlier surveys:
  std::vector<std::string> from;  // their files
  std::string merge = "shipped";  // what else the table shall have: that of a file, "shipped", or "none"
  bool by_wire = false;           // rules of its own for each MPI
};

// On this machine; the exit code.
int measure_table(const NewTable& wanted, const TuneOptions& options);

// Nothing is measured: what was measured under several MPIs makes one table. The exit code.
int table_from_surveys(const NewTable& wanted);

}  // namespace hocket::command
