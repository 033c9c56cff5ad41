// SPDX-License-Identifier: BSD-3-Clause
// What scan and exscan by direct reading share: each rank's operand, published segment by segment for all ranks behind
// it.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include "algorithms/combining.h"
#include "algorithms/slot_ring.h"

namespace hocket::algorithms {

class PrefixWork {
 public:
  explicit PrefixWork(schedule::Builder& builder)
      : builder_(builder), ring_(builder), operands_(builder), readers_(builder.size() - 1 - builder.rank()) {
    ring_.expect_readers(readers_);
  }

  // Keeps this rank's segment, and publishes it if anybody reads it.
  void provide(uint32_t s) {
    ring_.claim(s);
    operands_.keep(s);
    if (readers_ > 0) ring_.publish(s, own(s));
  }
  schedule::Slice own(uint32_t s) const { return operands_.at(s); }
  schedule::Slice output(uint32_t s) const {
    return schedule::Builder::part(builder_.output(), s, builder_.segments());
  }
  schedule::Builder::From from(uint32_t peer, uint32_t s) const { return ring_.from(peer, s); }
  // This rank has read the segment of all before it.
  void release_all(uint32_t s) {
    for (uint32_t peer = 0; peer < builder_.rank(); ++peer) ring_.release(peer, s);
  }

 private:
  schedule::Builder& builder_;
  SlotRing ring_;
  OperandRing operands_;
  uint32_t readers_;
};

}  // namespace hocket::algorithms
