// SPDX-License-Identifier: BSD-3-Clause
// SIG: everyone marks its arrival in one shared word and watches that word.
//
// Velamati et al. OR bits into the root's signal register and release as in OTA, because others can't watch a register
// of the root. Here they can watch the word, so there is no release: one scheduling round, which is what counts where
// ranks outnumber cores. Adding 1 stands for setting one's bit and has no limit of 32 or 64 ranks.
//
// Reference: Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, section 3.2.
// Steps: 2: add, wait.
// Bytes: none; `size` signals into one word.
// Cost:  alpha + size c, where c is one atomic addition to a contended line.
// Restrictions: memory that all ranks can add to (the shared counters).
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_signal {

void build(schedule::Builder& builder) {
  if (builder.size() == 1) return;
  builder.shared_total(0, builder.size());
  builder.add_shared(0);
  builder.wait_until_shared(0, builder.size());
}

}  // namespace of_barrier_signal
}  // namespace

constinit const Algorithm barrier_signal = {
    .collective = schedule::Collective::kBarrier,
    .name = "signal",
    .summary = "everyone adds to one shared word and waits until it is full",
    .reference = "Velamati et al., Optimization of Collective Communication in Intra-Cell MPI, 3.2 (SIG)",
    .build = of_barrier_signal::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
