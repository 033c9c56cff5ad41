// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/slot_tree.h"

#include <optional>

#include "algorithms/slot_ring.h"

namespace hocket::algorithms {

using schedule::Builder;
using schedule::Slice;

void broadcast_through_slots(Builder& builder, const Tree& tree) {
  SlotRing ring(builder);
  ring.expect_readers(static_cast<uint32_t>(tree.children.size()));
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    const Slice segment = Builder::part(builder.output(), s, builder.segments());
    if (builder.rank() != 0) builder.get(ring.from(tree.parent, s), segment);
    if (!tree.children.empty()) {
      ring.claim(s);
      ring.publish(s, segment);  // before the acknowledgement: the children wait for this, the parent not yet
    }
    if (builder.rank() != 0) ring.release(tree.parent, s);
  }
}

void reduce_through_slots(Builder& builder, const Tree& tree) {
  const uint32_t segments = builder.segments();
  const bool is_root = builder.rank() == 0;
  SlotRing ring(builder);
  ring.expect_readers(is_root ? 0 : 1);
  std::optional<ScratchRing> scratch;
  if (!is_root && !tree.children.empty()) scratch.emplace(builder, Builder::part(builder.input(), 0, segments));
  for (uint32_t s = 0; s < segments; ++s) {
    const Slice own = Builder::part(builder.input(), s, segments);
    Slice sum = own;
    if (is_root) {
      sum = Builder::part(builder.output(), s, segments);
    } else {
      ring.claim(s);
      if (scratch) sum = scratch->at(s, own);
    }
    if (is_root && tree.children.empty()) builder.copy(own, sum);
    Slice so_far = own;
    for (const uint32_t child : tree.children) {
      builder.combine_from(ring.from(child, s), so_far, sum, /*incoming_left=*/false);
      so_far = sum;
      ring.release(child, s);
    }
    if (!is_root) ring.publish(s, sum);
  }
}

}  // namespace hocket::algorithms
