// SPDX-License-Identifier: BSD-3-Clause
// DIS: in round i, rank j signals rank j + 2^i and waits for rank j - 2^i, modulo size.
//
// Reference: Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization (1988);
//   Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.2.
// Steps: ceil(log2 size) rounds, whatever the size.
// Bytes: none; size ceil(log2 size) empty messages.
// Cost:  ceil(log2 size) alpha.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_dissemination {

void build(schedule::Builder& builder) {
  const uint64_t rank = builder.rank();
  const uint64_t size = builder.size();
  for (uint64_t distance = 1; distance < size; distance *= 2) {
    builder.begin_stage();
    builder.send(static_cast<uint32_t>((rank + distance) % size), {});
    builder.receive(static_cast<uint32_t>((rank + size - distance) % size), {});
    builder.end_stage();
  }
}

}  // namespace of_barrier_dissemination
}  // namespace

constinit const Algorithm barrier_dissemination = {
    .collective = schedule::Collective::kBarrier,
    .name = "dissemination",
    .summary = "signal 2^i ranks ahead in round i",
    .reference =
        "Hensgen, Finkel, Manber, Two Algorithms for Barrier Synchronization, 1988; Velamati et al., Optimization of "
        "Collective Communication in Intra-Cell MPI, 3.2 (DIS)",
    .build = of_barrier_dissemination::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
