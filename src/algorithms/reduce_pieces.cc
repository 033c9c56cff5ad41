// SPDX-License-Identifier: BSD-3-Clause
// AG: everyone publishes its operand, each rank reduces its piece of it, the root collects the results.
//
// Velamati et al. take the operation for commutative; here each piece is combined in rank order, whatever the root, at
// the price of one copy of a piece. The root collects and doesn't let itself be written to: the result lies in the
// worker's scratch memory, where peers can read it, while the root's buffer often is not memory that peers can reach.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.4.
// Steps: 3 rounds a segment (publish, combine, collect), of which two segments overlap.
// Bytes: a rank reads and combines (size-1)/size n; the root copies n more.
// Cost:  3 alpha + (1 + 1/size) n beta + n gamma, and size messages a segment at every rank.
// Restrictions: a segment fits into a slot.
#include "algorithms/piece_work.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_pieces {

using schedule::Builder;

// When the root has collected all pieces of a segment, everybody's operand of it has been read, and so have all
// results. So one signal of the root to each rank, every few segments, is the only acknowledgement.
class Acknowledgement {
 public:
  explicit Acknowledgement(Builder& builder) : builder_(builder) {
    if (!is_root() && batches() > 2) builder.own_total(kCollected, batches() - 2);
  }

  // Before segment s takes the slot of an earlier one.
  void await(uint32_t s) {
    const uint32_t batch = s / kBatch;
    if (!is_root() && s % kBatch == 0 && batch >= 2) builder_.wait_until(kCollected, batch - 1);
  }

  // The root's, which has collected segment s.
  void give(uint32_t s) {
    if (s % kBatch != kBatch - 1 || s / kBatch + 2 >= batches()) return;
    for (uint32_t rank = 0; rank < builder_.size(); ++rank) {
      if (rank != builder_.rank()) builder_.add(rank, kCollected);
    }
  }

 private:
  static constexpr uint32_t kBatch = kRingSlots / 2;  // segments
  static constexpr uint8_t kCollected = 0;            // counter: batches that the root has collected

  bool is_root() const { return builder_.rank() == builder_.root(); }
  uint32_t batches() const { return (builder_.segments() + kBatch - 1) / kBatch; }

  Builder& builder_;
};

void build(Builder& builder) {
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  PieceWork pieces(builder, kRingSlots);
  Acknowledgement acknowledgement(builder);
  const uint32_t segments = builder.segments();
  const auto publish = [&](uint32_t s) {
    acknowledgement.await(s);
    pieces.publish_operand(s);
  };
  publish(0);
  for (uint32_t s = 0; s < segments; ++s) {
    if (s + 1 < segments) publish(s + 1);
    pieces.combine(s);
    if (builder.rank() != builder.root()) {
      pieces.publish_result(s);
      continue;
    }
    // By now all ranks may have read only some of our operand; but no other rank reads this piece of it.
    pieces.keep_result(s);
    pieces.collect(s);
    acknowledgement.give(s);
  }
}

}  // namespace of_reduce_pieces
}  // namespace

constinit const Algorithm reduce_pieces = published_and_combined({
    .collective = schedule::Collective::kReduce,
    .name = "pieces",
    .summary = "each rank reduces a piece, the root collects them",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.4 (AG)",
    .build = of_reduce_pieces::build,
});

}  // namespace hocket::algorithms
