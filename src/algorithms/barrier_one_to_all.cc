// SPDX-License-Identifier: BSD-3-Clause
// OTA: everyone tells rank 0, rank 0 tells everyone.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.2.
// Steps: 2 in a chain, of which rank 0 does size-1 at each end.
// Bytes: none; 2(size-1) signals.
// Cost:  2 alpha + 2(size-1) o, where o is what rank 0 spends on a signal.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_one_to_all {

void build(schedule::Builder& builder) {
  const uint32_t others = builder.size() - 1;
  if (others == 0) return;
  if (builder.rank() != 0) {
    builder.own_total(0, 1);
    builder.add(0, 0);
    builder.wait_until(0, 1);
    return;
  }
  builder.own_total(0, others);
  builder.wait_until(0, others);
  for (uint32_t rank = 1; rank <= others; ++rank) builder.add(rank, 0);
}

}  // namespace of_barrier_one_to_all
}  // namespace

constinit const Algorithm barrier_one_to_all = {
    .collective = schedule::Collective::kBarrier,
    .name = "one_to_all",
    .summary = "everyone adds to rank 0's counter, which then releases each",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.2 (OTA)",
    .build = of_barrier_one_to_all::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
