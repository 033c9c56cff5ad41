// SPDX-License-Identifier: BSD-3-Clause
// Messages up a k-nomial tree, then down: 2 (size-1) of them in all, where an exchange has size * log2(size).
//
// Reference: Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet with a New NIC-Based
//   Collective Message Passing Protocol (2004), 5.1.
// Steps: 2 * ceil(log_k size).
// Bytes: none; up to (k-1) * ceil(log_k size) + 1 messages each way at a rank.
// Cost:  2 * ceil(log_k size) * alpha.
// Restrictions: none.
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_gather_broadcast {

constexpr uint32_t kDegrees[] = {2, 4, 8};

void build(schedule::Builder& builder) {
  const Tree tree = knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees));
  if (!tree.children.empty()) {
    builder.begin_stage();
    for (const uint32_t child : tree.children) builder.receive(child, {});
    builder.end_stage();
  }
  if (builder.rank() != 0) {
    builder.send(tree.parent, {});
    builder.receive(tree.parent, {});
  }
  if (tree.children.empty()) return;
  builder.begin_stage();
  for (const uint32_t child : tree.children_biggest_first()) builder.send(child, {});
  builder.end_stage();
}

}  // namespace of_barrier_gather_broadcast
}  // namespace

constinit const Algorithm barrier_gather_broadcast = {
    .collective = schedule::Collective::kBarrier,
    .name = "gather_broadcast",
    .summary = "messages up a k-nomial tree and down again",
    .reference = "Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet, 5.1 (GB)",
    .build = of_barrier_gather_broadcast::build,
    .root_relative = false,
    .degrees = of_barrier_gather_broadcast::kDegrees,
};

}  // namespace hocket::algorithms
