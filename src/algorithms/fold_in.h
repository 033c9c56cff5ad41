// SPDX-License-Identifier: BSD-3-Clause
// Collectives along the dimensions of a hypercube, for groups that are no power of two: each rank without a vertex
// gives what it has to its right neighbour beforehand and gets the result from it afterwards.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>

#include "algorithms/shapes.h"
#include "schedule/builder.h"

namespace hocket::algorithms {

// The steps of a rank that sends `contribution` if it is an extra, and in the end has `result`. `exchange(cube)` writes
// those of a vertex; where the vertex has an extra, it begins with taking the contribution in (fold_in).
template <typename Exchange>
void exchange_with_extras(schedule::Builder& builder, const schedule::Slice& contribution,
                          const schedule::Slice& result, Exchange exchange) {
  const uint32_t rank = builder.rank();
  const Hypercube cube = hypercube(rank, builder.size());
  if (cube.is_extra) {
    builder.send(rank + 1, contribution);
    builder.receive(rank + 1, result);
    return;
  }
  exchange(cube);
  if (cube.has_extra) builder.send(rank - 1, result);
}

// What a vertex brings into a reduction: the extra's operand combined with its own in `room`, or just its own.
inline schedule::Slice fold_in(schedule::Builder& builder, const Hypercube& cube, const schedule::Slice& room) {
  if (!cube.has_extra) return builder.input();
  builder.receive_combine(builder.rank() - 1, builder.input(), room, /*incoming_left=*/true);
  return room;
}

}  // namespace hocket::algorithms
