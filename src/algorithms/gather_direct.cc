// SPDX-License-Identifier: BSD-3-Clause
// Every rank publishes its block, the root copies them: one scheduling round, and no other rank waits.
//
// Reference: the gather counterpart of one-to-all; Velamati et al., Optimization of Collective Communication in
//   Intra-Cell MPI.
// Steps: S publications; the root gets size-1 blocks a segment.
// Bytes: (size-1) n, read by the root; n is one block.
// Cost:  2 alpha + (size-1) n beta.
// Restrictions: a segment of a block fits into a slot.
#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_gather_direct {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t size = builder.size();
  const uint32_t root = builder.root();
  const uint32_t segments = builder.segments();
  const auto input = [&](uint32_t s) { return Builder::part(builder.input(), s, segments); };
  SlotRing ring(builder);
  if (builder.rank() != root) {
    ring.expect_readers(1);
    for (uint32_t s = 0; s < segments; ++s) {
      ring.claim(s);
      ring.publish(s, input(s));
    }
    return;
  }
  for (uint32_t s = 0; s < segments; ++s) {
    const auto output = [&](uint32_t block) {
      return Builder::part(Builder::part(builder.output(), block, size), s, segments);
    };
    builder.begin_stage();
    builder.copy(input(s), output(root));
    for (uint32_t i = 1; i < size; ++i) {
      const uint32_t peer = (root + i) % size;
      builder.get(ring.from(peer, s), output(peer));
    }
    builder.end_stage();
    for (uint32_t i = 1; i < size; ++i) ring.release((root + i) % size, s);
  }
}

}  // namespace of_gather_direct
}  // namespace

constinit const Algorithm gather_direct = {
    .collective = schedule::Collective::kGather,
    .name = "direct",
    .summary = "everyone publishes its block, the root copies them",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI (one-to-all, reversed)",
    .build = of_gather_direct::build,
    .root_relative = false,
    .segmented = true,
    .takes_vectors = true,
};

}  // namespace hocket::algorithms
