// SPDX-License-Identifier: BSD-3-Clause
// OTA with shift: the root publishes, everyone copies for itself.
//
// The shift against everybody's reading the same place at once: a segment counts as `degree` parts, rank i copies
// from part i mod degree to the end and then the beginning. Degree 1, the default, is no shift. It is measured in
// parts and not in bytes, because a plan knows no bytes.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: the root publishes S segments, the others get them: S + 1 in a chain; one scheduling round.
// Bytes: (size-1) n read out of the root's memory.
// Cost:  2 alpha + n beta (size-1)/b, where b is how many can read at once; each acknowledges every 4th segment.
// Restrictions: a segment fits into a slot.
#include <algorithm>

#include "algorithms/registered.h"
#include "algorithms/shapes.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_one_to_all {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {1, 4};

void get_shifted(Builder& builder, const SlotRing& ring, uint32_t s, const Slice& segment, uint32_t parts) {
  const uint32_t begin = builder.rank() % parts;
  if (begin == 0) return builder.get(ring.from(0, s), segment);
  const Slice tail = Builder::parts_of(segment, begin, parts, parts);
  const Slice head = Builder::parts_of(segment, 0, begin, parts);
  builder.get(ring.part_from(0, s, tail, segment), tail);
  builder.get(ring.part_from(0, s, head, segment), head);
}

void build(Builder& builder) {
  if (builder.size() == 1) return;
  const uint32_t parts = std::min(degree_of(builder, kDegrees), builder.size());
  const bool is_root = builder.rank() == 0;
  SlotRing ring(builder);
  if (is_root) ring.expect_readers(builder.size() - 1);
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    const Slice segment = Builder::part(builder.output(), s, builder.segments());
    if (is_root) {
      ring.claim(s);
      ring.publish(s, segment);
    } else {
      get_shifted(builder, ring, s, segment, parts);
      ring.release(0, s);
    }
  }
}

}  // namespace of_broadcast_one_to_all
}  // namespace

constinit const Algorithm broadcast_one_to_all = {
    .collective = schedule::Collective::kBroadcast,
    .name = "one_to_all",
    .summary =
        "the root publishes each segment, all others copy it; degree: its parts, rank i beginning with i mod degree",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (OTA)",
    .build = of_broadcast_one_to_all::build,
    .segmented = true,
    .degrees = of_broadcast_one_to_all::kDegrees,
};

}  // namespace hocket::algorithms
