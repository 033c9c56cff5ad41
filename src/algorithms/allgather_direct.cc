// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its block and copies everybody's: one scheduling round.
//
// Reference: after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend): each block
//   published once instead of sent to everyone.
// Steps: S + 1 in a chain; a rank gets size-1 blocks a segment.
// Bytes: a rank reads (size-1) n and copies its own n; n is one block.
// Cost:  2 alpha + size n beta.
// Restrictions: a segment of a block fits into a slot.
#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_direct {

using schedule::Builder;

// As in allreduce_direct: peers' segment s+2 tells that they have read everybody's s, so four slots need no
// acknowledgement.
constexpr uint32_t kSlots = 4;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const uint32_t segments = builder.segments();
  const auto input = [&](uint32_t s) { return Builder::part(builder.input(), s, segments); };
  const auto output = [&](uint32_t block, uint32_t s) {
    return Builder::part(builder.output_block(block), s, segments);
  };
  SlotRing ring(builder, 0, 0, kSlots);
  if (size > 1) ring.publish(0, input(0));
  for (uint32_t s = 0; s < segments; ++s) {
    if (size > 1 && s + 1 < segments) ring.publish(s + 1, input(s + 1));
    builder.begin_stage();
    if (!output(rank, s).is_empty()) builder.copy(input(s), output(rank, s));
    for (uint32_t i = 1; i < size; ++i) {
      const uint32_t peer = (rank + i) % size;
      builder.get(ring.from(peer, s), output(peer, s));  // also of nothing: see kSlots
    }
    builder.end_stage();
  }
}

}  // namespace of_allgather_direct
}  // namespace

constinit const Algorithm allgather_direct = {
    .collective = schedule::Collective::kAllgather,
    .name = "direct",
    .summary = "everyone publishes its block, everyone copies all",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_allgather_direct::build,
    .root_relative = false,
    .segmented = true,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
