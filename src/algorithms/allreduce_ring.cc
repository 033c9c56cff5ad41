// SPDX-License-Identifier: BSD-3-Clause
// Parts of the message travel around the ring of ranks twice: combined on the first round, spread on the second.
//
// Each part is combined once and then copied, so all ranks get the same bits; but part p is combined in the order
// p, p+1, ..., p-1, so the operation must commute.
//
// Reference: Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009).
// Steps: 2(size-1) exchanges with the two neighbours.
// Bytes: a rank sends and receives 2 (size-1)/size n and combines (size-1)/size n.
// Cost:  2(size-1) alpha + 2 (size-1)/size n beta + (size-1)/size n gamma. For long messages.
// Restrictions: commutative operations.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_ring {

using schedule::Builder;
using schedule::Slice;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return builder.copy(builder.input(), builder.output());
  const uint32_t right = (rank + 1) % size;
  const uint32_t left = (rank + size - 1) % size;
  // `back` steps against the ring's direction, from this rank.
  const auto part = [&](const Slice& buffer, uint32_t back) {
    return Builder::part(buffer, (rank + 2 * size - back) % size, size);
  };
  const Slice input = builder.input();
  const Slice output = builder.output();
  for (uint32_t step = 0; step + 1 < size; ++step) {
    builder.begin_stage();
    builder.send(right, part(step == 0 ? input : output, step));
    builder.receive_combine(left, part(input, step + 1), part(output, step + 1), /*incoming_left=*/true);
    builder.end_stage();
  }
  // The part that is complete here is the one size-1 steps back, which is rank + 1.
  for (uint32_t step = 0; step + 1 < size; ++step) {
    builder.begin_stage();
    builder.send(right, part(output, size - 1 + step));
    builder.receive(left, part(output, size + step));
    builder.end_stage();
  }
}

}  // namespace of_allreduce_ring
}  // namespace

constinit const Algorithm allreduce_ring = {
    .collective = schedule::Collective::kAllreduce,
    .name = "ring",
    .summary = "parts travel around the ring, combined first, then spread",
    .reference = "Patarasuk, Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009",
    .build = of_allreduce_ring::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
