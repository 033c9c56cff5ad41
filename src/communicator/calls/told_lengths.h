// SPDX-License-Identifier: BSD-3-Clause
// How long the blocks are that a rank passes on for its neighbours: what they have told it (algorithms/told_lengths.h),
// and what it sees itself. Gives the rows of a call's plan their offsets.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/rows.h"

namespace hocket::communicator {

class ToldLengths {
 public:
  // Begins with what this rank sees. `plan`: the composition's.
  void write(const schedule::Plan& plan, const schedule::Extents& own);
  // The same among neighbours: the lengths of these of the rank's destinations, and room for so many that it is told.
  void write(std::span<const uint32_t> destinations, const schedule::Extents& own, size_t told);
  // What it tells, and where it is told by its neighbours, each at its place on the node.
  std::byte* own() { return reinterpret_cast<std::byte*>(own_.data()); }
  std::byte* told() { return reinterpret_cast<std::byte*>(told_.data()); }
  // Of a call among neighbours, whose rows hold blocks that this rank gives or gets, and those that it passes on;
  // `incoming` and `passed`: as Prepared has them.
  using Numbered = std::span<const std::pair<uint64_t, uint32_t>>;
  void lay_rows_of_neighbours(const schedule::Plan& plan, Numbered incoming, Numbered passed,
                              schedule::Extents& extents);
  // Completes the extents for the plan; blocks of more than `longest_short` elements are in no row. They refer to this.
  void lay_rows(const schedule::Plan& plan, uint64_t longest_short, schedule::Extents& extents);

 private:
  std::vector<uint64_t> own_;
  std::vector<uint64_t> told_;  // a row a neighbour
  schedule::RowOffsets rows_;
};

}  // namespace hocket::communicator
