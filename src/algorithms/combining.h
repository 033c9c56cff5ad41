// SPDX-License-Identifier: BSD-3-Clause
// Combining what all ranks have published, in the order of ranks, and what algorithms have in common that do it.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>

#include "algorithms/algorithm.h"
#include "schedule/builder.h"

namespace hocket::algorithms {

// accumulator = x0 (op) x1 (op) ... of the first `ranks` ranks, this one among them, strictly from left to right, where
// x_rank is `own` and the others are what `from(peer)` says. A rank that does this with the same operands gets the same
// bits. The accumulator must not overlap `own`: own is needed late. ranks-1 combinations, and a copy for rank 2 and up.
template <typename FromPeer>
void combine_in_rank_order(schedule::Builder& builder, uint32_t ranks, const schedule::Slice& own,
                           const schedule::Slice& accumulator, FromPeer from) {
  const uint32_t rank = builder.rank();
  uint32_t next = 2;
  if (ranks == 1) {
    builder.copy(own, accumulator);
  } else if (rank == 0) {
    builder.combine_from(from(1), own, accumulator, /*incoming_left=*/false);
  } else if (rank == 1) {
    builder.combine_from(from(0), own, accumulator, /*incoming_left=*/true);
  } else {
    builder.get(from(0), accumulator);
    next = 1;
  }
  for (uint32_t peer = next; peer < ranks; ++peer) {
    if (peer == rank) {
      builder.combine(own, accumulator, /*source_left=*/false);
    } else {
      builder.combine_from(from(peer), accumulator, accumulator, /*incoming_left=*/false);
    }
  }
}

template <typename FromPeer>
void combine_in_rank_order(schedule::Builder& builder, const schedule::Slice& own, const schedule::Slice& accumulator,
                           FromPeer from) {
  combine_in_rank_order(builder, builder.size(), own, accumulator, from);
}

// The descriptor of an algorithm in which every rank publishes its operand, segment by segment, and a rank that
// combines does so in rank order, whatever the root: so that the root may be any and the operation need not commute.
consteval Algorithm published_and_combined(Algorithm algorithm) {
  algorithm.root_relative = false;
  algorithm.can_keep_order = true;
  algorithm.segmented = true;
  return algorithm;
}

}  // namespace hocket::algorithms
