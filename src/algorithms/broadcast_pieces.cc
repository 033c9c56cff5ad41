// SPDX-License-Identifier: BSD-3-Clause
// AG: each rank fetches a piece of every segment from the root, and all collect the pieces from each other.
//
// The root's own piece is taken from its publication. `degree` is the number of pieces, by default one a rank; fewer
// come of the minimum piece of Velamati et al. (`pieces:piece=4K`). Their ranks write a piece into every destination;
// here each publishes it and the others read, which needs no gathering of addresses and lets every rank copy at its own
// pace.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.3.
// Steps: S segments of 2 rounds (fetch and publish, collect), of which two overlap.
// Bytes: a rank reads n, of which n/d from the root's memory (d pieces); the root's memory is read 2 n/d (size-1).
// Cost:  (S+1) 2 alpha + (1 + 1/d) n beta, and d-1 gets a segment.
// Restrictions: a segment fits into a slot.
#include <algorithm>

#include "algorithms/registered.h"
#include "algorithms/shapes.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_pieces {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

class Pieces {
 public:
  explicit Pieces(Builder& builder) : builder_(builder), ring_(builder) {
    const uint32_t degree = degree_of(builder, kDegrees);
    pieces_ = degree >= builder.size() - 1 ? builder.size() : degree;
    if (is_root()) {
      ring_.expect_readers(builder.size() - 1);
    } else if (has_piece()) {
      ring_.expect_readers(builder.size() - 2);
    }
  }

  bool is_root() const { return builder_.rank() == 0; }

  // Makes this rank's piece, or the root's everything, readable.
  void provide(uint32_t s) {
    const Slice segment = segment_of(s);
    if (is_root()) {
      ring_.claim(s);
      ring_.publish(s, segment);
    } else if (has_piece()) {
      const Slice piece = Builder::part(segment, builder_.rank(), pieces_);
      builder_.get(ring_.part_from(0, s, piece, segment), piece);
      ring_.claim(s);
      ring_.publish(s, piece);
    }
  }

  // Gets the pieces of the others, beginning behind one's own so that not all ask the same rank first.
  void collect(uint32_t s) {
    const Slice segment = segment_of(s);
    builder_.begin_stage();
    for (uint32_t i = 1; i <= pieces_; ++i) {
      const uint32_t owner = (builder_.rank() + i) % pieces_;
      if (owner == builder_.rank()) continue;
      const Slice piece = Builder::part(segment, owner, pieces_);
      builder_.get(owner == 0 ? ring_.part_from(0, s, piece, segment) : ring_.from(owner, s), piece);
    }
    builder_.end_stage();
    for (uint32_t owner = 0; owner < pieces_; ++owner) {
      if (owner != builder_.rank()) ring_.release(owner, s);
    }
  }

 private:
  bool has_piece() const { return builder_.rank() < pieces_; }
  Slice segment_of(uint32_t s) const { return Builder::part(builder_.output(), s, builder_.segments()); }

  Builder& builder_;
  SlotRing ring_;
  uint32_t pieces_ = 1;
};

void build(Builder& builder) {
  if (builder.size() == 1) return;
  Pieces pieces(builder);
  const uint32_t segments = builder.segments();
  if (pieces.is_root()) {
    for (uint32_t s = 0; s < segments; ++s) pieces.provide(s);
    return;
  }
  pieces.provide(0);
  for (uint32_t s = 0; s < segments; ++s) {
    if (s + 1 < segments) pieces.provide(s + 1);
    pieces.collect(s);
  }
}

}  // namespace of_broadcast_pieces
}  // namespace

constinit const Algorithm broadcast_pieces = {
    .collective = schedule::Collective::kBroadcast,
    .name = "pieces",
    .summary = "each fetches a piece from the root, all collect them; degree: number of pieces",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 (AG)",
    .build = of_broadcast_pieces::build,
    .segmented = true,
    .degrees = of_broadcast_pieces::kDegrees,
    .has_pieces = true,
};

}  // namespace hocket::algorithms
