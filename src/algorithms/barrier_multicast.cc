// SPDX-License-Identifier: BSD-3-Clause
// Messages up a k-nomial tree, then rank 0 releases all by multicast, and a chain those that miss it.
//
// Reference: Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet with a New NIC-Based
//   Collective Message Passing Protocol (2004), 5.1 (up); Hoefler, Siebert, Rehm, A practically constant-time MPI
//   Broadcast Algorithm for large-scale InfiniBand Clusters with Multicast (2007), section 2 (down).
// Steps: ceil(log_k size), and 1.
// Bytes: none; size-1 messages up and as many by the chain.
// Cost:  (ceil(log_k size) + 1) * alpha.
// Restrictions: one rank a node, and a network that multicasts.
#include "algorithms/by_multicast.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_multicast {

constexpr uint32_t kDegrees[] = {8, 2, 4};

void build(schedule::Builder& builder) {
  const Tree tree = knomial_tree(builder.rank(), builder.size(), degree_of(builder, kDegrees));
  if (!tree.children.empty()) {
    builder.begin_stage();
    for (const uint32_t child : tree.children) builder.receive(child, {});
    builder.end_stage();
  }
  if (builder.rank() != 0) builder.send(tree.parent, {});
  multicast_down(builder, {});
}

}  // namespace of_barrier_multicast
}  // namespace

constinit const Algorithm barrier_multicast = {
    .collective = schedule::Collective::kBarrier,
    .name = "multicast",
    .summary = "messages up a k-nomial tree, released by multicast and a chain",
    .reference =
        "Yu, Buntinas, Graham, Panda, Efficient and Scalable Barrier over Quadrics and Myrinet, 5.1 (GB); Hoefler, "
        "Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm",
    .build = of_barrier_multicast::build,
    .root_relative = false,
    .degrees = of_barrier_multicast::kDegrees,
};

}  // namespace hocket::algorithms
