// SPDX-License-Identifier: BSD-3-Clause
// Two stages: the root multicasts, which may come to some ranks or to none; then each rank that has a segment,
// however it came, sends it to the next rank of a chain, and one that hasn't takes it from the rank before.
//
// Reference: Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
//   Clusters with Multicast (2007), section 2.
// Steps: 1 where the multicast comes; one more for each rank before that has missed it, too, at most size-1.
// Bytes: n by multicast, and each rank but the last sends n.
// Cost:  alpha + n beta, whatever the number of ranks, if the multicast comes; of one rank in two that miss it, another
//   1.0 alpha on average.
// Restrictions: one rank a node, and a network that multicasts.
#include "algorithms/by_multicast.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_broadcast_multicast {

void build(schedule::Builder& builder) { multicast_down(builder, builder.output()); }

}  // namespace of_broadcast_multicast
}  // namespace

constinit const Algorithm broadcast_multicast = {
    .collective = schedule::Collective::kBroadcast,
    .name = "multicast",
    .summary = "by multicast, and down a chain of ranks for those who have missed it",
    .reference = "Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm",
    .build = of_broadcast_multicast::build,
    .segmented = true,
};

}  // namespace hocket::algorithms
