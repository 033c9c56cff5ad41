// SPDX-License-Identifier: BSD-3-Clause
// AG: everyone publishes its operand, each rank reduces its piece of it, the root collects the results.
//
// The paper's takes the operation for commutative; here each piece is combined in rank order, whatever the root, at
// the price of one copy of a piece. The root collects and doesn't let itself be written to: the result lies in the
// worker's scratch memory, where peers can read it, while the root's buffer often is not memory that peers can reach.
//
// Paper: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: 3 rounds a segment (publish, combine, collect), of which two segments overlap.
// Bytes: a rank reads and combines (size-1)/size n; the root copies n more.
// Cost:  3 alpha + (1 + 1/size) n beta + n gamma, and size messages a segment at every rank.
// Restrictions: a segment fits into a slot.
#include "algorithms/combining.h"
#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Slice;

// When the root has collected all pieces of a segment, everybody's operand of it has been read, and so have all
// results. So one signal of the root to each rank, every few segments, is the only acknowledgement.
constexpr uint32_t kBatch = kRingSlots / 2;
constexpr uint8_t kOperands = 0;
constexpr uint8_t kResults = kRingSlots;
constexpr uint8_t kCollected = 0;  // counter: batches that the root has collected

class Pieces {
 public:
  explicit Pieces(Builder& builder)
      : builder_(builder),
        operands_(builder, kOperands),
        results_(builder, kResults),
        scratch_(builder, Builder::part(segment_of(builder.input(), 0), 0, builder.size())) {
    if (!is_root() && batches() > 2) builder.own_total(kCollected, batches() - 2);
  }

  void publish(uint32_t s) {
    const uint32_t batch = s / kBatch;
    if (!is_root() && s % kBatch == 0 && batch >= 2) builder_.wait_until(kCollected, batch - 1);
    operands_.publish(s, segment_of(builder_.input(), s));
  }

  void reduce(uint32_t s) {
    const Slice segment = segment_of(builder_.input(), s);
    const Slice own = piece_of(segment, builder_.rank());
    const Slice result = scratch_.at(s, own);
    combine_in_rank_order(builder_, own, result,
                          [&](uint32_t peer) { return operands_.part_from(peer, s, own, segment); });
    if (!is_root()) return results_.publish(s, result);
    // By now everyone may have read only some of our operand; but nobody else reads this piece of it.
    builder_.copy(result, piece_of(segment_of(builder_.output(), s), builder_.rank()));
  }

  // The root's.
  void collect(uint32_t s) {
    const Slice segment = segment_of(builder_.output(), s);
    builder_.begin_stage();
    for (uint32_t i = 1; i < builder_.size(); ++i) {
      const uint32_t worker = (builder_.rank() + i) % builder_.size();
      builder_.get(results_.from(worker, s), piece_of(segment, worker));
    }
    builder_.end_stage();
    if (s % kBatch != kBatch - 1 || s / kBatch + 2 >= batches()) return;
    for (uint32_t rank = 0; rank < builder_.size(); ++rank) {
      if (rank != builder_.rank()) builder_.add(rank, kCollected);
    }
  }

  bool is_root() const { return builder_.rank() == builder_.root(); }

 private:
  uint32_t batches() const { return (builder_.segments() + kBatch - 1) / kBatch; }
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
    if (pieces.is_root()) pieces.collect(s);
  }
}

}  // namespace

constinit const Algorithm reduce_pieces = {
    .collective = schedule::Collective::kReduce,
    .name = "pieces",
    .summary = "each rank reduces a piece, the root collects them",
    .reference = "Velamati et al., Intra-Cell MPI, 3.4 (AG)",
    .build = build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
    .uses_slots = true,
};

}  // namespace hocket::algorithms
