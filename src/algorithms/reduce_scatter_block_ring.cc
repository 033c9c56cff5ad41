// SPDX-License-Identifier: BSD-3-Clause
// Partial results travel around the ring, each combined with the operand of every rank that it passes, and end at home.
//
// Reference: Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009), first half.
// Steps: size-1 exchanges with the two neighbours.
// Bytes: a rank sends, receives and combines (size-1) n; n is one block.
// Cost:  (size-1) (alpha + n beta + n gamma). For long blocks.
// Restrictions: commutative operations.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_ring {

using schedule::Builder;
using schedule::Slice;

Slice longest_block(const Builder& builder) {
  Slice longest = builder.input_block(0);
  const auto length = [](const Slice& slice) { return static_cast<double>(slice.last - slice.first) / slice.of; };
  for (uint32_t i = 1; i < builder.size(); ++i) {
    const Slice block = builder.input_block(i);
    if (length(block) > length(longest)) longest = block;
  }
  return longest;
}

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return builder.copy(builder.input(), builder.output());
  const auto input = [&](uint32_t back) { return builder.input_block((rank + 2 * size - back) % size); };
  const Slice longest = longest_block(builder);
  const uint8_t areas[2] = {builder.scratch_area(longest), builder.scratch_area(longest)};
  Slice partial = input(1);
  for (uint32_t step = 0; step + 1 < size; ++step) {
    const bool is_last = step + 2 == size;
    const Slice own = input(step + 2);
    const Slice next = is_last ? builder.output() : Builder::in_scratch(areas[step % 2], own, own);
    builder.begin_stage();
    if (!partial.is_empty()) builder.send((rank + 1) % size, partial);
    if (!own.is_empty()) builder.receive_combine((rank + size - 1) % size, own, next, /*incoming_left=*/true);
    builder.end_stage();
    partial = next;
  }
}

}  // namespace of_reduce_scatter_block_ring
}  // namespace

constinit const Algorithm reduce_scatter_block_ring = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "ring",
    .summary = "partial results travel around the ring and end at home",
    .reference = "Patarasuk, Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009",
    .build = of_reduce_scatter_block_ring::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
