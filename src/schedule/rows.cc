// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/rows.h"

namespace hocket::schedule {

Range RowOffsets::resolve(const Slice& slice) const {
  const uint64_t* offsets = &offsets_[rows_[slice.area].begin];
  const uint64_t blocks = rows_[slice.area].blocks;
  const auto at = [&](uint64_t numerator) {
    const uint64_t scaled = numerator * blocks;
    const uint64_t block = scaled / slice.of;
    const uint64_t rest = scaled % slice.of;
    if (rest == 0) return offsets[block];
    const uint64_t length = offsets[block + 1] - offsets[block];
    return offsets[block] + fraction(length, rest, slice.of);
  };
  return {at(slice.first) - at(slice.origin), at(slice.last) - at(slice.first)};
}

// Any part as long, wherever it begins: its ends are rounded down.
uint64_t RowOffsets::elements(uint8_t area, const ScratchArea& part) const {
  const Row& row = rows_[area];
  const uint64_t total = offsets_[row.begin + row.blocks];
  return std::min(total, row.longest * part.numerator / part.denominator + 1);
}

bool lies_in_row(const Slice& slice, const Extents& extents) {
  return slice.buffer == Buffer::kScratch && extents.rows->is_row(slice.area);
}

Range resolve_in_row(const Slice& slice, const Extents& extents) { return extents.rows->resolve(slice); }

uint64_t scratch_elements(const Plan& plan, uint8_t area, const Extents& extents) {
  if (extents.rows != nullptr && extents.rows->is_row(area)) return extents.rows->elements(area, plan.scratch[area]);
  return plan.scratch[area].elements(extents);
}

}  // namespace hocket::schedule
