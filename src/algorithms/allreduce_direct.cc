// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its operand and combines everybody's for itself: one scheduling round.
//
// In place the operand is published from scratch memory, so that the output can be written while slower ranks still
// read. All combine in rank order and so get the same bits.
//
// Reference: the allreduce counterpart of one-to-all; all-to-all broadcast with local reduction, as in
//   Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience (2007).
// Steps: S + 1 in a chain; a rank combines size-1 operands a segment.
// Bytes: a rank reads (size-1) n, and copies n in place.
// Cost:  2 alpha + (size-1) n (beta + gamma) + n beta. For short messages.
// Restrictions: a segment fits into a slot.
#include "algorithms/combining.h"
#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_direct {

using schedule::Builder;

// No rank acknowledges: a peer publishes segment s+2 only after it has read all ranks' segments s. A rank that has read
// the peers' s+2 may reuse its slot of s; it publishes one ahead, s+4, after that.
constexpr uint32_t kSlots = 4;

void build(Builder& builder) {
  const uint32_t segments = builder.segments();
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  SlotRing ring(builder, 0, 0, kSlots);
  const OperandRing operands(builder, kSlots);
  const auto provide = [&](uint32_t s) {
    operands.keep(s);
    ring.publish(s, operands.at(s));
  };
  provide(0);
  for (uint32_t s = 0; s < segments; ++s) {
    if (s + 1 < segments) provide(s + 1);
    combine_in_rank_order(builder, operands.at(s), Builder::part(builder.output(), s, segments),
                          [&](uint32_t peer) { return ring.from(peer, s); });
  }
}

}  // namespace of_allreduce_direct
}  // namespace

constinit const Algorithm allreduce_direct = published_and_combined({
    .collective = schedule::Collective::kAllreduce,
    .name = "direct",
    .summary = "everyone publishes, everyone combines all operands in rank order",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_allreduce_direct::build,
});

}  // namespace hocket::algorithms
