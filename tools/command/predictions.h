// SPDX-License-Identifier: BSD-3-Clause
// What the cost model says of every algorithm, for a cluster that is thought of, not there.
//
// Thread safety: one thread.
#pragma once

#include <string>

#include "schedule/collective.h"
#include "schedule/nodes.h"

namespace hocket::command {

struct PredictionWords {
  std::string sizes;     // "8,64,1K..4M", of the message or of a block
  std::string model;     // a table whose model line counts; "": that of the table in use
  std::string variants;  // "linear;leader:across=bruck"; "": all that is worth trying
  bool json = false;
};

// Prints what each algorithm would take, and what the table in use chooses. The exit code.
int show_predictions(schedule::Collective collective, const schedule::Nodes& nodes, const PredictionWords& words);

}  // namespace hocket::command
