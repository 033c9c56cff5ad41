// SPDX-License-Identifier: BSD-3-Clause
// AG twice: everyone publishes its operand, each rank reduces its piece of it, all collect the results.
//
// Pieces are combined in rank order and once each, so all ranks get the same bits. In place is safe without a copy:
// a rank overwrites piece p of its operand only when rank p, which alone reads it, has published the result.
//
// Reference: after Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, sections 3.3 and 3.4.
// Steps: 2 rounds a segment (combine, collect), overlapped over three segments.
// Bytes: a rank reads 2 (size-1)/size n and combines (size-1)/size n.
// Cost:  (S+2) 2 alpha + 2 n beta + n gamma, and 2(size-1) messages a segment at every rank.
// Restrictions: a segment fits into a slot.
#include "algorithms/piece_work.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_pieces {

using schedule::Builder;

// No rank acknowledges. While a rank works on segment s it publishes operand s+1, then result s, then collects s-1.
//   Operand s+1 takes the slot of s-3: its readers are done, for their results of s-3 have been collected.
//   Result s takes the slot of s-4, which peers collected before they published their results of s-2, and those have
//   been collected.
constexpr uint32_t kSlots = 4;

void build(Builder& builder) {
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  PieceWork pieces(builder, kSlots);
  const uint32_t segments = builder.segments();
  pieces.publish_operand(0);
  for (uint32_t s = 0; s < segments; ++s) {
    if (s + 1 < segments) pieces.publish_operand(s + 1);
    pieces.combine(s);
    pieces.publish_result(s);
    pieces.keep_result(s);
    if (s > 0) pieces.collect(s - 1);
  }
  pieces.collect(segments - 1);
}

}  // namespace of_allreduce_pieces
}  // namespace

constinit const Algorithm allreduce_pieces = published_and_combined({
    .collective = schedule::Collective::kAllreduce,
    .name = "pieces",
    .summary = "each rank reduces a piece, all collect them",
    .reference = "after Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 and 3.4 (AG)",
    .build = of_allreduce_pieces::build,
});

}  // namespace hocket::algorithms
