// SPDX-License-Identifier: BSD-3-Clause
// Ranks as the vertices of a hypercube exchange all that they have along one dimension after the other.
//
// The blocks of a rank's half are always neighbours. Off powers of two, the first ranks pair up beforehand.
//
// Reference: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005).
// Steps: floor(log2 size) exchanges, and 2 messages more off powers of two.
// Bytes: a rank sends and receives (size-1) n, and size n more to or from an extra; n is one block.
// Cost:  floor(log2 size) alpha + (size-1) n beta, plus 2 alpha + (size+1) n beta off powers of two.
// Restrictions: blocks of one length.
#include "algorithms/fold_in.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_recursive_doubling {

using schedule::Builder;

void exchange(Builder& builder, const Hypercube& cube) {
  const uint32_t size = builder.size();
  const auto blocks_of = [&](uint32_t vertex, uint32_t vertices) {
    return Builder::parts_of(builder.output(), cube.first_rank_of(vertex), cube.first_rank_of(vertex + vertices), size);
  };
  builder.begin_stage();
  builder.copy(builder.input(), Builder::part(builder.output(), builder.rank(), size));
  if (cube.has_extra) builder.receive(builder.rank() - 1, Builder::part(builder.output(), builder.rank() - 1, size));
  builder.end_stage();
  for (uint32_t width = 1; width < cube.vertices(); width *= 2) {
    const uint32_t mine = cube.vertex & ~(width - 1);
    const uint32_t peer = cube.rank_of(cube.vertex ^ width);
    builder.begin_stage();
    builder.send(peer, blocks_of(mine, width));
    builder.receive(peer, blocks_of(mine ^ width, width));
    builder.end_stage();
  }
}

void build(Builder& builder) {
  exchange_with_extras(builder, builder.input(), builder.output(),
                       [&](const Hypercube& cube) { exchange(builder, cube); });
}

}  // namespace of_allgather_recursive_doubling
}  // namespace

constinit const Algorithm allgather_recursive_doubling = {
    .collective = schedule::Collective::kAllgather,
    .name = "recursive_doubling",
    .summary = "exchange all that one has along each dimension of a hypercube",
    .reference = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005",
    .build = of_allgather_recursive_doubling::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
