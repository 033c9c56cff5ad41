// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/step.h"

namespace hocket::schedule {
namespace {

// Where a fraction of all blocks lies: in the block that it begins, or (`ends`) in the one that it ends.
uint64_t position(const Slice& slice, const BlockVector& blocks, uint64_t numerator, bool ends) {
  const uint64_t scaled = numerator * slice.blocks;
  uint64_t block = scaled / slice.of;
  uint64_t rest = scaled - block * slice.of;
  if (block > 0 && (block == slice.blocks || (ends && rest == 0))) {
    --block;
    rest += slice.of;
  }
  if (rest == 0) return blocks.displacements[block];
  const uint64_t count = blocks.counts[block];
  return blocks.displacements[block] + (rest == slice.of ? count : fraction(count, rest, slice.of));
}

}  // namespace

Range resolve_in_blocks(const Slice& slice, const BlockVector& blocks) {
  const uint64_t begin = position(slice, blocks, slice.first, false);
  const uint64_t end = slice.first == slice.last ? begin : position(slice, blocks, slice.last, true);
  // The caller's buffers are counted from their beginning, whatever lies there; scratch areas from what they stand for.
  const bool has_origin = slice.buffer == Buffer::kScratch || slice.origin != 0;
  const uint64_t origin = has_origin ? position(slice, blocks, slice.origin, false) : 0;
  return {begin - origin, end - begin};
}

}  // namespace hocket::schedule
