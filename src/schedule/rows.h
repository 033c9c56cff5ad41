// SPDX-License-Identifier: BSD-3-Clause
// Rows: scratch areas in which blocks that differ in length lie side by side, so that they may be sent as one message.
// Which blocks they are is the plan's (Plan::rows), how long they are is the call's.
//
// Thread safety: values, immutable once made.
#pragma once

#include <algorithm>
#include <cstddef>
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
    rows_.assign(plan.rows.size(), Row{});
    for (size_t area = 0; area < plan.rows.size(); ++area) {
      if (plan.rows[area] == nullptr) continue;
      // Areas for parts of a row have it in common.
      const auto same = std::find(plan.rows.begin(), plan.rows.begin() + static_cast<ptrdiff_t>(area), plan.rows[area]);
      rows_[area] = rows_[static_cast<size_t>(same - plan.rows.begin())];
      if (rows_[area].blocks == 0) rows_[area] = lay_row(*plan.rows[area], length_of);
    }
  }
  bool is_row(uint8_t area) const { return area < rows_.size() && rows_[area].blocks != 0; }
  // Room for that part of a row.
  uint64_t elements(uint8_t area, const ScratchArea& part) const;
  Range resolve(const Slice& slice) const;

 private:
  struct Row {
    size_t begin = 0;  // in `offsets_`
    uint64_t blocks = 0;
    uint64_t longest = 0;
  };
  template <typename LengthOf>
  Row lay_row(const std::vector<uint64_t>& blocks, const LengthOf& length_of) {
    Row row{offsets_.size(), blocks.size()};
    uint64_t offset = 0;
    for (const uint64_t block : blocks) {
      offsets_.push_back(offset);
      const uint64_t length = length_of(block);
      row.longest = std::max<uint64_t>(row.longest, length);
      offset += length;
    }
    offsets_.push_back(offset);
    return row;
  }

  std::vector<uint64_t> offsets_;  // of the blocks of one row after the other, and each row's end
  std::vector<Row> rows_;          // by area
};

// Room for scratch area `area` of a plan.
uint64_t scratch_elements(const Plan& plan, uint8_t area, const Extents& extents);

}  // namespace hocket::schedule
