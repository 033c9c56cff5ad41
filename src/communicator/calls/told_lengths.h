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
  // What it tells, and where it is told by its neighbours, each at its place on the node.
  std::byte* own() { return reinterpret_cast<std::byte*>(own_.data()); }
  std::byte* told() { return reinterpret_cast<std::byte*>(told_.data()); }
  // Of a call among neighbours, whose rows hold blocks that this rank gives or gets; `incoming`: as Prepared has them.
  void lay_own_rows(const schedule::Plan& plan, std::span<const std::pair<uint64_t, uint32_t>> incoming,
                    schedule::Extents& extents);
  // Completes the extents for the plan; blocks of more than `longest_short` elements are in no row. They refer to this.
  void lay_rows(const schedule::Plan& plan, uint64_t longest_short, schedule::Extents& extents);

 private:
  std::vector<uint64_t> own_;
  std::vector<uint64_t> told_;  // a row a neighbour
  schedule::RowOffsets rows_;
};

}  // namespace hocket::communicator
