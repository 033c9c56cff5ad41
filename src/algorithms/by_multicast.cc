// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/by_multicast.h"

namespace hocket::algorithms {

using schedule::Builder;
using schedule::Slice;

void multicast_down(Builder& builder, const Slice& whole) {
  if (builder.size() == 1) return;
  const uint32_t rank = builder.rank();
  const uint32_t segments = builder.segments();
  const auto segment = [&](uint32_t index) { return segments == 1 ? whole : Builder::part(whole, index, segments); };
  if (rank == 0) {
    builder.begin_stage();
    for (uint32_t index = 0; index < segments; ++index) builder.multicast(segment(index));
    builder.end_stage();
    // Not before: a root that holds its multicast back would be overtaken by the chain.
    builder.begin_stage();
    for (uint32_t index = 0; index < segments; ++index) builder.pass_on(1, segment(index));
    builder.end_stage();
    return;
  }
  // The root has it: its predecessor is spared.
  const bool passes_on = rank + 1 < builder.size();
  for (uint32_t index = 0; index < segments; ++index) {
    builder.begin_stage();
    if (passes_on && index > 0) builder.pass_on(rank + 1, segment(index - 1));
    builder.first_of(rank - 1, 0, segment(index));
    builder.end_stage();
  }
  if (passes_on) builder.pass_on(rank + 1, segment(segments - 1));
}

}  // namespace hocket::algorithms
