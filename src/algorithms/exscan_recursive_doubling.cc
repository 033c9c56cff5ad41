// SPDX-License-Identifier: BSD-3-Clause
// In each step everyone sends what it has combined so far twice as far to the right; its own operand stays out of what
// it keeps for itself.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006).
// Steps: ceil(log2 size) exchanges.
// Bytes: a rank sends and receives up to n ceil(log2 size), combines twice that, and copies 2 n.
// Cost:  ceil(log2 size) (alpha + n beta + 2 n gamma) + 2 n beta.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_exscan_recursive_doubling {

using schedule::Builder;
using schedule::Slice;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return;
  const Slice input = builder.input();
  const auto area = [&] { return Builder::in_scratch(builder.scratch_area(input), input, input); };
  // The input may lie in the output, which is written before it has been sent for the last time.
  const Slice combined = area();
  const Slice incoming = area();
  builder.copy(input, combined);
  for (uint32_t distance = 1; distance < size; distance *= 2) {
    const bool receives = rank >= distance;
    builder.begin_stage();
    if (rank + distance < size) builder.send(rank + distance, combined);
    if (receives) builder.receive(rank - distance, incoming);
    builder.end_stage();
    if (!receives) continue;
    builder.begin_stage();
    builder.combine(incoming, combined, /*source_left=*/true);
    if (distance == 1) {
      builder.copy(incoming, builder.output());
    } else {
      builder.combine(incoming, builder.output(), /*source_left=*/true);
    }
    builder.end_stage();
  }
}

}  // namespace of_exscan_recursive_doubling
}  // namespace

constinit const Algorithm exscan_recursive_doubling = {
    .collective = schedule::Collective::kExscan,
    .name = "recursive_doubling",
    .summary = "send what is combined so far twice as far each time",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_exscan_recursive_doubling::build,
    .root_relative = false,
    .can_keep_order = true,
};

}  // namespace hocket::algorithms
