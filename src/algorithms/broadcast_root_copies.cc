// SPDX-License-Identifier: BSD-3-Clause
// G: the root gathers where everyone wants the data, and copies it there itself.
//
// Segment by segment and not rank by rank, so that the root reads each segment from its cache for all but the first.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: S(size-1) puts at the root, each with a signal; others expose, wait and take.
// Bytes: (size-1) n, all written by the root.
// Cost:  2 alpha + (size-1) (S o + n beta). For few ranks.
// Restrictions: a segment fits into a slot.
#include <algorithm>

#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_root_copies {

using schedule::Builder;
using schedule::Slice;

Slice segment_of(const Builder& builder, uint32_t s) { return Builder::part(builder.output(), s, builder.segments()); }

void build_root(Builder& builder, const SlotRing& ring) {
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    for (uint32_t rank = 1; rank < builder.size(); ++rank) {
      builder.put(ring.from(rank, s), segment_of(builder, s));
      builder.add(rank, 0);
    }
  }
}

// A slot is exposed again by the rank that has emptied it, so no rank needs to acknowledge anything.
void build_other(Builder& builder, SlotRing& ring) {
  const uint32_t segments = builder.segments();
  builder.own_total(0, segments);
  for (uint32_t s = 0; s < std::min(segments, kRingSlots); ++s) ring.expose(s, segment_of(builder, s));
  for (uint32_t s = 0; s < segments; ++s) {
    builder.wait_until(0, s + 1);
    builder.get(ring.from(builder.rank(), s), segment_of(builder, s));
    if (s + kRingSlots < segments) ring.expose(s + kRingSlots, segment_of(builder, s + kRingSlots));
  }
}

void build(Builder& builder) {
  SlotRing ring(builder);
  builder.rank() == 0 ? build_root(builder, ring) : build_other(builder, ring);
}

}  // namespace of_broadcast_root_copies
}  // namespace

constinit const Algorithm broadcast_root_copies = {
    .collective = schedule::Collective::kBroadcast,
    .name = "root_copies",
    .summary = "everyone exposes its buffer, the root writes into each",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (G)",
    .build = of_broadcast_root_copies::build,
    .segmented = true,
};

}  // namespace hocket::algorithms
