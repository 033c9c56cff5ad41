// SPDX-License-Identifier: BSD-3-Clause
// An algorithm: a pure function from a shape to a plan, and what must be known to choose it.
//
// Adding one is one file that defines `const Algorithm <name>` and one line in algorithms.def.
// Algorithms know no engine, no operating system and no clock.
//
// Thread safety: algorithms are constants, and everything here is pure; a builder belongs to one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "schedule/builder.h"

namespace hocket::algorithms {

struct Algorithm {
  schedule::Collective collective;
  std::string_view name;       // as in the environment and the tables: "dissemination", "tree", ...
  std::string_view summary;    // one line for --help and docs
  std::string_view reference;  // the paper or book
  // Writes the plan of shape.rank. Called with root 0 for root-relative algorithms.
  void (*build)(schedule::Builder& builder);

  // The plan is written for root 0 and turned: rank r plays (r - root) mod size. If not, `build` heeds the root.
  bool root_relative = true;
  // Operands are combined in rank order when shape.keep_order asks for it (and the root is 0, if root-relative).
  // Without it the algorithm is for commutative operations only.
  bool can_keep_order = false;
  // May be cut into several segments; if not, `segments` is always 1.
  bool segmented = false;
  // Publishes each segment in slots, so that a segment must fit into a slot's staging buffer.
  bool uses_slots = false;
  // Serves the vector versions too, and messages cut into several calls where there is a block a rank: no slice goes
  // beyond a block (but those of reduce_scatter_block, whose blocks always lie densely), and no scratch area stands for
  // blocks of an alltoall.
  bool takes_vectors = false;
  // What it publishes are whole rows, a block for each rank: a row must fit into a slot.
  bool publishes_rows = false;
  // Degrees worth trying, the first being the default; empty: the algorithm has none.
  std::span<const uint32_t> degrees = {};
  // Sizes it can serve.
  uint32_t min_size = 1;
  uint32_t max_size = 1u << 20;
};

// All registered algorithms, in the order of algorithms.def.
std::span<const Algorithm* const> all();
// Of a vector version, those of the collective that it is a version of.
const Algorithm* find(schedule::Collective collective, std::string_view name);

// The plan of `rank` in the caller's numbering: turned to the root where the algorithm is root-relative.
// In the result, peers are real ranks.
schedule::Plan make_plan(const Algorithm& algorithm, const schedule::Shape& shape);

}  // namespace hocket::algorithms
