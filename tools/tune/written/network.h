// SPDX-License-Identifier: BSD-3-Clause
// What was measured as a file of a network, which `hocket simulate --network` takes.
//
// Thread safety: pure functions, but for the file.
#pragma once

#include <string>
#include <vector>

#include "tune/fit.h"
#include "tune/written/table.h"

namespace hocket::command {

struct MeasuredNetwork {
  Machine machine;
  std::string mpi;                        // whose messages join the nodes; "": none
  std::vector<Measurement> measurements;  // that the parameters were fitted to, if they were
  Fit fit;                                // its parameters are the network's
  std::string fitted_elsewhere;           // the table that those of a node are from; "": they were fitted here
  bool has_nodes = false;                 // messages between nodes were measured
};

// Behind each number stands where it is from; what nobody has measured says so, or is missing.
std::string network_text(const MeasuredNetwork& measured);

// "" or why it can't be the file: simulations know networks by the ending.
Status check_network_path(const std::string& path);
Status write_network(const std::string& path, const MeasuredNetwork& measured);

}  // namespace hocket::command
