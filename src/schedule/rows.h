// SPDX-License-Identifier: BSD-3-Clause
// Rows: scratch areas in which blocks that differ in length lie side by side, so that they may be sent as one message.
// Which blocks they are is the plan's (Plan::rows), how long they are is the call's.
//
// Thread safety: values, immutable once made.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/plan.h"

namespace hocket::schedule {

class RowOffsets {
 public:
  RowOffsets() = default;
  // Lays out the plan's rows; length_of(block) gives a block's elements. Uses its memory again.
  template <typename LengthOf>
  void lay(const Plan& plan, const LengthOf& length_of) {
    offsets_.clear();
    begins_.assign(1, 0);
    for (const std::vector<uint64_t>& row : plan.rows) {
      uint64_t offset = 0;
      for (const uint64_t block : row) {
        offsets_.push_back(offset);
        offset += length_of(block);
      }
      if (!row.empty()) offsets_.push_back(offset);
      begins_.push_back(offsets_.size());
    }
  }
  bool is_row(uint8_t area) const { return area + size_t{1} < begins_.size() && begins_[area] != begins_[area + 1]; }
  // Of a row: its elements, and those of a slice of it.
  uint64_t elements(uint8_t area) const { return offsets_[begins_[area + 1] - 1]; }
  Range resolve(const Slice& slice) const;

 private:
  std::vector<uint64_t> offsets_;  // of the blocks of one row after the other, and each row's end
  std::vector<size_t> begins_;     // in `offsets_`, by area
};

// Room for scratch area `area` of a plan.
uint64_t scratch_elements(const Plan& plan, uint8_t area, const Extents& extents);

}  // namespace hocket::schedule
