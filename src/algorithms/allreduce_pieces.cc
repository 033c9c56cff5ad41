// SPDX-License-Identifier: BSD-3-Clause
// AG twice: everyone publishes its operand, each rank reduces its piece of it, all collect the results.
//
// Pieces are combined in rank order and once each, so all ranks get the same bits. In place is safe without a copy:
// a rank overwrites piece p of its operand only when rank p, who alone reads it, has published the result.
//
// Paper: after Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, sections 3.3 and 3.4.
// Steps: 2 rounds a segment (combine, collect), overlapped over three segments.
// Bytes: a rank reads 2 (size-1)/size n and combines (size-1)/size n.
// Cost:  (S+2) 2 alpha + 2 n beta + n gamma, and 2(size-1) messages a segment at every rank.
// Restrictions: a segment fits into a slot.
#include "algorithms/combining.h"
#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Slice;

// Nobody acknowledges. While a rank works on segment s it publishes operand s+1, then result s, then collects s-1.
//   Operand s+1 takes the slot of s-3: its readers are done, for their results of s-3 have been collected.
//   Result s takes the slot of s-4, which peers collected before they published their results of s-2, and those have
//   been collected.
constexpr uint32_t kSlots = 4;

class Pieces {
 public:
  explicit Pieces(Builder& builder)
      : builder_(builder),
        operands_(builder, 0, 0, kSlots),
        results_(builder, kSlots, 0, kSlots),
        scratch_(builder, piece_of(segment_of(builder.input(), 0), 0), kSlots) {}

  void publish(uint32_t s) { operands_.publish(s, segment_of(builder_.input(), s)); }

  void reduce(uint32_t s) {
    const Slice segment = segment_of(builder_.input(), s);
    const Slice own = piece_of(segment, builder_.rank());
    const Slice result = scratch_.at(s, own);
    combine_in_rank_order(builder_, own, result,
                          [&](uint32_t peer) { return operands_.part_from(peer, s, own, segment); });
    results_.publish(s, result);
    builder_.copy(result, piece_of(segment_of(builder_.output(), s), builder_.rank()));
  }

  void collect(uint32_t s) {
    const Slice segment = segment_of(builder_.output(), s);
    builder_.begin_stage();
    for (uint32_t i = 1; i < builder_.size(); ++i) {
      const uint32_t worker = (builder_.rank() + i) % builder_.size();
      builder_.get(results_.from(worker, s), piece_of(segment, worker));
    }
    builder_.end_stage();
  }

 private:
  Slice segment_of(const Slice& buffer, uint32_t s) const { return Builder::part(buffer, s, builder_.segments()); }
  Slice piece_of(const Slice& segment, uint32_t rank) const { return Builder::part(segment, rank, builder_.size()); }

  Builder& builder_;
  SlotRing operands_;
  SlotRing results_;
  ScratchRing scratch_;
};

void build(Builder& builder) {
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  Pieces pieces(builder);
  const uint32_t segments = builder.segments();
  pieces.publish(0);
  for (uint32_t s = 0; s < segments; ++s) {
    if (s + 1 < segments) pieces.publish(s + 1);
    pieces.reduce(s);
    if (s > 0) pieces.collect(s - 1);
  }
  pieces.collect(segments - 1);
}

}  // namespace

constinit const Algorithm allreduce_pieces = {
    .collective = schedule::Collective::kAllreduce,
    .name = "pieces",
    .summary = "each rank reduces a piece, all collect them",
    .reference = "after Velamati et al., Intra-Cell MPI, 3.3 and 3.4 (AG)",
    .build = build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
    .uses_slots = true,
};

}  // namespace hocket::algorithms
