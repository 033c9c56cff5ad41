// SPDX-License-Identifier: BSD-3-Clause
// PE: ranks as the vertices of a hypercube exchange empty messages along one dimension after the other.
//
// Off powers of two, the ranks that have no vertex report to a neighbour first and are released by it at the end.
// All messages between the halves of the machine (two sockets, two chips) fall into the last dimension.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.2.
// Steps: floor(log2 size) exchanges, and 2 steps more off powers of two.
// Bytes: none; with V = 2^floor(log2 size): V log2 V + 2(size-V) empty messages.
// Cost:  (floor(log2 size) + 2) alpha, 2 less at powers of two.
// Restrictions: none.
#include "algorithms/fold_in.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_pairwise_exchange {

void build(schedule::Builder& builder) {
  exchange_with_extras(builder, {}, {}, [&](const Hypercube& cube) {
    if (cube.has_extra) builder.receive(builder.rank() - 1, {});
    for (uint32_t dimension = 0; dimension < cube.dimensions; ++dimension) {
      const uint32_t peer = cube.rank_of(cube.vertex ^ 1u << dimension);
      builder.begin_stage();
      builder.send(peer, {});
      builder.receive(peer, {});
      builder.end_stage();
    }
  });
}

}  // namespace of_barrier_pairwise_exchange
}  // namespace

constinit const Algorithm barrier_pairwise_exchange = {
    .collective = schedule::Collective::kBarrier,
    .name = "pairwise_exchange",
    .summary = "exchange along each dimension of a hypercube",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.2 (PE)",
    .build = of_barrier_pairwise_exchange::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
