// SPDX-License-Identifier: BSD-3-Clause
// Two stages: the root multicasts, which may come to some ranks or to none; then whoever has a segment, however it
// came, sends it to the next rank of a chain, and who hasn't takes it from the one before.
//
// Reference: Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
//   Clusters with Multicast (2007), section 2.
// Steps: 1 where the multicast comes; one more for each rank before that has missed it, too, at most size-1.
// Bytes: n by multicast, and each rank but the last sends n.
// Cost:  alpha + n beta, whatever the number of ranks, if the multicast comes; of one rank in two that miss it, another
//   1.0 alpha on average.
// Restrictions: one rank a node, and a network that multicasts.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_multicast {

using schedule::Builder;
using schedule::Slice;

void build(Builder& builder) {
  if (builder.size() == 1) return;
  const uint32_t rank = builder.rank();
  const uint32_t segments = builder.segments();
  const auto segment = [&](uint32_t index) { return Builder::part(builder.output(), index, segments); };
  if (rank == 0) {
    builder.begin_stage();
    for (uint32_t index = 0; index < segments; ++index) builder.multicast(segment(index));
    builder.end_stage();
    // Not before: a root that holds its multicast back would be overtaken by the chain.
    builder.begin_stage();
    for (uint32_t index = 0; index < segments; ++index) builder.send(1, segment(index));
    builder.end_stage();
    return;
  }
  // The root has it: its predecessor is spared.
  const bool hands_on = rank + 1 < builder.size();
  for (uint32_t index = 0; index < segments; ++index) {
    builder.begin_stage();
    if (hands_on && index > 0) builder.send(rank + 1, segment(index - 1));
    builder.first_of(rank - 1, 0, segment(index));
    builder.end_stage();
  }
  if (hands_on) builder.send(rank + 1, segment(segments - 1));
}

}  // namespace of_broadcast_multicast
}  // namespace

constinit const Algorithm broadcast_multicast = {
    .collective = schedule::Collective::kBroadcast,
    .name = "multicast",
    .summary = "by multicast, and down a chain of ranks for those who have missed it",
    .reference = "Hoefler, Siebert, Rehm, constant-time broadcast with multicast",
    .build = of_broadcast_multicast::build,
    .segmented = true,
    .multicasts = true,
};

}  // namespace hocket::algorithms
