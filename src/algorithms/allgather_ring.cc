// SPDX-License-Identifier: BSD-3-Clause
// Blocks travel around the ring of ranks, everyone passing on what it has just got.
//
// Reference: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005).
// Steps: size-1 exchanges with the two neighbours.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  (size-1) (alpha + n beta). For long blocks.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_ring {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const uint32_t right = (rank + 1) % size;
  const uint32_t left = (rank + size - 1) % size;
  const auto block = [&](uint32_t back) { return builder.output_block((rank + 2 * size - back) % size); };
  if (!block(0).is_empty()) builder.copy(builder.input(), block(0));
  for (uint32_t step = 0; step + 1 < size; ++step) {
    builder.begin_stage();
    if (!block(step).is_empty()) builder.send(right, block(step));
    if (!block(step + 1).is_empty()) builder.receive(left, block(step + 1));
    builder.end_stage();
  }
}

}  // namespace of_allgather_ring
}  // namespace

constinit const Algorithm allgather_ring = {
    .collective = schedule::Collective::kAllgather,
    .name = "ring",
    .summary = "blocks travel around the ring of ranks",
    .reference = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005",
    .build = of_allgather_ring::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
