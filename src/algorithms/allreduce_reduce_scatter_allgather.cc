// SPDX-License-Identifier: BSD-3-Clause
// Rabenseifner's: recursive halving leaves each rank one part of the result, recursive doubling spreads the parts.
//
// Neighbours exchange first, and the biggest halves, so that most bytes move between near ranks and blocks of ranks
// stay contiguous: rank order. What a rank keeps and what it sends never overlap, so the output serves as the only
// buffer, also in place.
//
// Reference: Rabenseifner, Optimization of Collective Reduction Operations (2004); Thakur, Rabenseifner, Gropp (2005).
// Steps: 2 floor(log2 size) exchanges, and 2 messages more off powers of two.
// Bytes: with V = 2^floor(log2 size), a rank sends and receives 2 (V-1)/V n and combines (V-1)/V n.
// Cost:  2 floor(log2 size) alpha + 2 (V-1)/V n beta + (V-1)/V n gamma, plus 2 alpha + 2 n beta + n gamma off powers
//        of two.
// Restrictions: none; messages shorter than V elements leave some exchanges empty.
#include "algorithms/fold_in.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_reduce_scatter_allgather {

using schedule::Builder;
using schedule::Slice;

// The parts [first, first + parts) of vertices() that a vertex holds once it has exchanged along the dimensions below
// `dimension`. Vertices that differ only above hold the same.
struct Held {
  uint32_t first = 0;
  uint32_t parts = 0;
};

Held held(const Hypercube& cube, uint32_t vertex, uint32_t dimension) {
  Held range{0, cube.vertices()};
  for (uint32_t d = 0; d < dimension; ++d) {
    range.parts /= 2;
    if (vertex >> d & 1) range.first += range.parts;
  }
  return range;
}

void reduce_scatter_then_allgather(Builder& builder, const Hypercube& cube) {
  const auto of = [&](const Slice& buffer, uint32_t vertex, uint32_t dimension) {
    const Held range = held(cube, vertex, dimension);
    return Builder::parts_of(buffer, range.first, range.first + range.parts, cube.vertices());
  };
  const Slice output = builder.output();
  Slice current = fold_in(builder, cube, output);
  for (uint32_t d = 0; d < cube.dimensions; ++d) {
    const uint32_t other = cube.vertex ^ 1u << d;
    const uint32_t peer = cube.rank_of(other);
    builder.begin_stage();
    builder.send(peer, of(current, other, d + 1));
    builder.receive_combine(peer, of(current, cube.vertex, d + 1), of(output, cube.vertex, d + 1),
                            /*incoming_left=*/peer < builder.rank());
    builder.end_stage();
    current = output;
  }
  for (uint32_t d = cube.dimensions; d-- > 0;) {
    const uint32_t other = cube.vertex ^ 1u << d;
    const uint32_t peer = cube.rank_of(other);
    builder.begin_stage();
    builder.send(peer, of(output, cube.vertex, d + 1));
    builder.receive(peer, of(output, other, d + 1));
    builder.end_stage();
  }
}

void build(Builder& builder) {
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  exchange_with_extras(builder, builder.input(), builder.output(),
                       [&](const Hypercube& cube) { reduce_scatter_then_allgather(builder, cube); });
}

}  // namespace of_allreduce_reduce_scatter_allgather
}  // namespace

constinit const Algorithm allreduce_reduce_scatter_allgather = {
    .collective = schedule::Collective::kAllreduce,
    .name = "reduce_scatter_allgather",
    .summary = "recursive halving, then recursive doubling",
    .reference =
        "Rabenseifner, Optimization of Collective Reduction Operations, 2004; Thakur, Rabenseifner, Gropp, "
        "Optimization of Collective Communication Operations in MPICH, 2005",
    .build = of_allreduce_reduce_scatter_allgather::build,
    .root_relative = false,
    .can_keep_order = true,
};

}  // namespace hocket::algorithms
