// SPDX-License-Identifier: BSD-3-Clause
// Ranks on the nodes of a cluster that is thought of, not there: `--nodes 4x2 --order cyclic`.
//
// Thread safety: pure functions; the parser belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "schedule/collective.h"
#include "schedule/nodes.h"
#include "words/grid.h"

namespace CLI {
class App;
}

namespace hocket::command {

struct LayoutOptions {
  std::string nodes;  // empty: one
  std::string order = "block";
};

// Adds --nodes and --order.
void add_layout(CLI::App& subcommand, LayoutOptions& options);

// Adds --grid, --periodic and --stencil: whose neighbours the ranks are, for collectives among them.
void add_grid(CLI::App& subcommand, GridWords& words);

// Of a collective among neighbours, else nullptr. `ranks` as below; where neither it nor the grid says how many there
// are: `usual`.
Result<std::shared_ptr<const schedule::Neighbours>> neighbours_of(schedule::Collective collective,
                                                                  const GridWords& words, uint32_t usual,
                                                                  uint32_t& ranks);

// "4x2": four nodes of two ranks; "3,1,4": as many on each; "2x4,1". Orders: block, cyclic, random:SEED.
Result<schedule::Nodes> parse_layout(const std::string& nodes, const std::string& order);

// nullopt where there is one node. `ranks`: what --ranks says, or 0; in the end as many as there are.
Result<std::optional<schedule::Nodes>> layout_of(const LayoutOptions& options, uint32_t& ranks);

}  // namespace hocket::command
