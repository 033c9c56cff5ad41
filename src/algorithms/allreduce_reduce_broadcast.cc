// SPDX-License-Identifier: BSD-3-Clause
// reduce_tree to rank 0, then broadcast_tree from it: a composition of two schedules over the same group.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, sections 3.3 and 3.4 (TREE).
// Steps: 2 (S - 1 + ceil(log_k size)) in a chain.
// Bytes: (size-1) n combined and (size-1) n copied in all.
// Cost:  that of reduce_tree plus that of broadcast_tree.
// Restrictions: a segment fits into a slot.
#include <numeric>

#include "algorithms/registered.h"
#include "algorithms/slot_ring.h"
#include "algorithms/slot_tree.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_reduce_broadcast {

using schedule::Builder;

constexpr uint32_t kDegrees[] = {3, 2, 4, 8, kFlat};
constexpr uint8_t kRingCounters = 2;  // that a slot ring uses

void build(Builder& builder) {
  Builder::GroupOptions options;
  options.ranks.resize(builder.size());
  std::iota(options.ranks.begin(), options.ranks.end(), 0u);
  options.segments = builder.segments();
  options.degree = degree_of(builder, kDegrees);
  options.input = builder.input();
  options.output = builder.output();
  builder.enter_group(options);
  reduce_tree.build(builder);
  builder.leave_group();

  options.input = {};
  options.slot_base = kRingSlots;
  options.counter_base = kRingCounters;
  builder.enter_group(options);
  broadcast_tree.build(builder);
  builder.leave_group();
}

}  // namespace of_allreduce_reduce_broadcast
}  // namespace

constinit const Algorithm allreduce_reduce_broadcast = {
    .collective = schedule::Collective::kAllreduce,
    .name = "reduce_broadcast",
    .summary = "tree reduction to rank 0, then tree broadcast from it",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.3 and 3.4 (TREE)",
    .build = of_allreduce_reduce_broadcast::build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
    .degrees = of_allreduce_reduce_broadcast::kDegrees,
};

}  // namespace hocket::algorithms
