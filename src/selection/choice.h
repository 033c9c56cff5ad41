// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm serves a call, cut into how many segments and calls, and why.
//
// Everything asked in a Query is the same on all ranks of a call, so all ranks come to the same choice, as long as
// they use the same table and the same forced spec.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "selection/table.h"

namespace hocket::selection {

struct Query {
  schedule::Collective collective = schedule::Collective::kBarrier;
  // Of the whole message: count * element_bytes. Where there is a block a rank, of one block, the longest if they
  // differ; 0 where ranks see different lengths.
  uint64_t bytes = 0;
  uint64_t row_bytes = 0;  // of all blocks together, where they differ and all ranks see them
  uint32_t ranks = 1;
  bool crowded = false;     // more ranks than cores
  bool commutative = true;  // if not, operands must be combined in rank order (Shape::keep_order)
  uint32_t root = 0;        // nothing depends on it so far
  uint32_t element_bytes = 1;
  uint64_t slot_bytes = 64 * 1024;  // a slot's staging buffer
  // How long plans may get: beyond, a message is cut into several calls, so that a program stays within some thousand
  // instructions.
  uint32_t max_segments = 32;
};

struct Choice {
  const algorithms::Algorithm* algorithm = nullptr;
  uint32_t degree = 0;         // for Shape::degree
  uint64_t segment_bytes = 0;  // the longest segment
  // For Shape::segments: 1 .. max_segments, and such that ceil(chunk_elements / segments) elements fit into a slot if
  // the algorithm uses slots.
  uint32_t segments = 1;
  // A message too long for one plan is cut into `calls` calls of `chunk_elements` (the last may be shorter).
  // calls == 1: one call of the whole count. Where there is a block a rank, a call is a part of every block.
  uint64_t calls = 1;
  uint64_t chunk_elements = 0;
  std::string reason;  // "shipped table, line 12"
};

// `forced` (nullptr: none) overrides the table. A forced spec that can't be honoured is an error that says why:
// a substitute is never chosen silently. Without one, a rule whose algorithm can't serve the call is passed over, and
// when no rule is left the cost model chooses (cost_model.h), with the table's parameters.
Result<Choice> choose(const Query& query, const Table& table, const Spec* forced = nullptr);

// Why `spec` can't serve the call, or "".
std::string why_not(const Query& query, const Spec& spec);

// The choice and its grounds as text of several lines: the rule and its place, what was measured, the runner-up, how
// the message is cut, and which rules and algorithms were refused and why.
std::string explain(const Query& query, const Table& table, const Spec* forced = nullptr);

}  // namespace hocket::selection
