// SPDX-License-Identifier: BSD-3-Clause
// A chain: each rank keeps what comes from the left, and passes it on combined with its own.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006).
// Steps: size-1 hops; S-1 more of them with S segments.
// Bytes: n in and n out at a rank, and 2 n copied.
// Cost:  (size-1 + S-1) (alpha + n/S (3 beta + gamma)).
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_exscan_linear {

using schedule::Builder;

using schedule::Slice;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const uint32_t segments = builder.segments();
  const auto part = [&](const Slice& buffer, uint32_t s) { return Builder::part(buffer, s, segments); };
  if (size == 1) return;
  if (rank == 0 || rank + 1 == size) {
    for (uint32_t s = 0; s < segments; ++s) {
      rank == 0 ? builder.send(1, part(builder.input(), s)) : builder.receive(rank - 1, part(builder.output(), s));
    }
    return;
  }
  // The input may lie in the output: it is read before that is written.
  const uint8_t incoming_area = builder.scratch_area(part(builder.input(), 0));
  const uint8_t outgoing_area = builder.scratch_area(part(builder.input(), 0));
  for (uint32_t s = 0; s < segments; ++s) {
    const Slice own = part(builder.input(), s);
    const Slice incoming = Builder::in_scratch(incoming_area, own, own);
    const Slice outgoing = Builder::in_scratch(outgoing_area, own, own);
    builder.receive(rank - 1, incoming);
    builder.copy(own, outgoing);
    builder.combine(incoming, outgoing, /*source_left=*/true);
    builder.begin_stage();
    builder.send(rank + 1, outgoing);
    builder.copy(incoming, part(builder.output(), s));
    builder.end_stage();
  }
}

}  // namespace of_exscan_linear
}  // namespace

constinit const Algorithm exscan_linear = {
    .collective = schedule::Collective::kExscan,
    .name = "linear",
    .summary = "a chain: each rank keeps what comes from the left and adds its own",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_exscan_linear::build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
};

}  // namespace hocket::algorithms
