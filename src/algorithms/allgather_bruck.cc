// SPDX-License-Identifier: BSD-3-Clause
// In each step everyone sends all that it has to the rank twice as far away; in the end blocks are turned to their
// places.
//
// Reference: Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications in multiport
//   message-passing systems (1997).
// Steps: ceil(log2 size) exchanges and a local turn, at every size.
// Bytes: a rank sends and receives (size-1) n and copies (size+1) n; n is one block.
// Cost:  ceil(log2 size) alpha + 2 size n beta. For short blocks.
// Restrictions: blocks of one length.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_bruck {

using schedule::Builder;
using schedule::Slice;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const Slice all = builder.output();
  if (size == 1) return builder.copy(builder.input(), all);
  const uint8_t area = builder.scratch_area(all);
  // Blocks counted from this rank's own.
  const auto held = [&](uint32_t first, uint32_t last) {
    return Builder::in_scratch(area, Builder::parts_of(all, first, last, size), all);
  };
  builder.copy(builder.input(), held(0, 1));
  for (uint32_t has = 1; has < size; has *= 2) {
    const uint32_t more = std::min(has, size - has);
    builder.begin_stage();
    builder.send((rank + size - has) % size, held(0, more));
    builder.receive((rank + has) % size, held(has, has + more));
    builder.end_stage();
  }
  builder.begin_stage();
  builder.copy(held(0, size - rank), Builder::parts_of(all, rank, size, size));
  if (rank > 0) builder.copy(held(size - rank, size), Builder::parts_of(all, 0, rank, size));
  builder.end_stage();
}

}  // namespace of_allgather_bruck
}  // namespace

constinit const Algorithm allgather_bruck = {
    .collective = schedule::Collective::kAllgather,
    .name = "bruck",
    .summary = "send all that one has twice as far each time, then turn",
    .reference =
        "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All Communications in Multiport "
        "Message-Passing Systems, 1997",
    .build = of_allgather_bruck::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
