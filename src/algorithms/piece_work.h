// SPDX-License-Identifier: BSD-3-Clause
// Reductions by pieces: everyone publishes its operand, each rank combines its piece of all of them and publishes the
// result, a rank that wants the whole collects the results. In what order, and how ranks learn that a slot is free
// again, is the algorithm's.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>

#include "algorithms/combining.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {

class PieceWork {
 public:
  // Operands pass through slots 0 to `slots`-1, results through as many behind them.
  PieceWork(schedule::Builder& builder, uint32_t slots)
      : builder_(builder),
        operands_(builder, 0, 0, slots),
        results_(builder, static_cast<uint8_t>(slots), 0, slots),
        scratch_(builder, piece_of(segment_of(builder.input(), 0), 0), slots) {}

  void publish_operand(uint32_t s) { operands_.publish(s, segment_of(builder_.input(), s)); }

  // Combines this rank's piece of everybody's operand, in rank order, in scratch memory.
  void combine(uint32_t s) {
    const schedule::Slice segment = segment_of(builder_.input(), s);
    const schedule::Slice own = piece_of(segment, builder_.rank());
    combine_in_rank_order(builder_, own, result_of(s),
                          [&](uint32_t peer) { return operands_.part_from(peer, s, own, segment); });
  }

  // What becomes of the result.
  void publish_result(uint32_t s) { results_.publish(s, result_of(s)); }
  void keep_result(uint32_t s) {
    builder_.copy(result_of(s), piece_of(segment_of(builder_.output(), s), builder_.rank()));
  }

  // Gets the others' results, beginning behind one's own so that not all ask the same rank first.
  void collect(uint32_t s) {
    const schedule::Slice segment = segment_of(builder_.output(), s);
    builder_.begin_stage();
    for (uint32_t i = 1; i < builder_.size(); ++i) {
      const uint32_t worker = (builder_.rank() + i) % builder_.size();
      builder_.get(results_.from(worker, s), piece_of(segment, worker));
    }
    builder_.end_stage();
  }

 private:
  schedule::Slice segment_of(const schedule::Slice& buffer, uint32_t s) const {
    return schedule::Builder::part(buffer, s, builder_.segments());
  }
  schedule::Slice piece_of(const schedule::Slice& segment, uint32_t rank) const {
    return schedule::Builder::part(segment, rank, builder_.size());
  }
  schedule::Slice result_of(uint32_t s) const {
    return scratch_.at(s, piece_of(segment_of(builder_.input(), s), builder_.rank()));
  }

  schedule::Builder& builder_;
  SlotRing operands_;
  SlotRing results_;
  ScratchRing scratch_;
};

}  // namespace hocket::algorithms
