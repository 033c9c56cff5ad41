// SPDX-License-Identifier: BSD-3-Clause
// Ranks as the vertices of a hypercube exchange what they have along one dimension after the other.
//
// Both of a pair compute lower (op) higher, and blocks of ranks stay contiguous, so all get the bits of one and the
// same order of combination. Off powers of two, the first ranks pair up with their right neighbour beforehand.
//
// Reference: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005).
// Steps: floor(log2 size) exchanges, and 2 messages more off powers of two.
// Bytes: a rank sends and receives n floor(log2 size).
// Cost:  floor(log2 size) (alpha + n beta + n gamma), plus 2 alpha + 2 n beta + n gamma off powers of two.
// Restrictions: none.
#include "algorithms/fold_in.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_recursive_doubling {

using schedule::Builder;
using schedule::Slice;

// What is sent must not change meanwhile, so each exchange leaves its result elsewhere: in two scratch areas in turn,
// and the last in the output. The input may lie in the output too, hence it must not be what the last one sends.
void exchange(Builder& builder, const Hypercube& cube) {
  const uint32_t rank = builder.rank();
  const auto area = [&] {
    return Builder::in_scratch(builder.scratch_area(builder.input()), builder.input(), builder.input());
  };
  Slice current = builder.input();
  Slice spare;
  if (cube.has_extra) {
    current = fold_in(builder, cube, area());
  } else if (cube.dimensions == 1) {
    current = area();
    builder.copy(builder.input(), current);
  }
  for (uint32_t dimension = 0; dimension < cube.dimensions; ++dimension) {
    const uint32_t peer = cube.rank_of(cube.vertex ^ 1u << dimension);
    const bool is_last = dimension + 1 == cube.dimensions;
    if (!is_last && spare.buffer == schedule::Buffer::kNone) spare = area();
    const Slice next = is_last ? builder.output() : spare;
    builder.begin_stage();
    builder.send(peer, current);
    builder.receive_combine(peer, current, next, /*incoming_left=*/peer < rank);
    builder.end_stage();
    spare = current.buffer == schedule::Buffer::kScratch ? current : Slice{};
    current = next;
  }
}

void build(Builder& builder) {
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  exchange_with_extras(builder, builder.input(), builder.output(),
                       [&](const Hypercube& cube) { exchange(builder, cube); });
}

}  // namespace of_allreduce_recursive_doubling
}  // namespace

constinit const Algorithm allreduce_recursive_doubling = {
    .collective = schedule::Collective::kAllreduce,
    .name = "recursive_doubling",
    .summary = "exchange and combine along each dimension of a hypercube",
    .reference = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005",
    .build = of_allreduce_recursive_doubling::build,
    .root_relative = false,
    .can_keep_order = true,
};

}  // namespace hocket::algorithms
