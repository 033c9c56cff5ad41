// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its operand and combines those of the ranks before it: one scheduling round.
//
// Reference: after allreduce direct; all-to-all broadcast with local reduction, as in
//   Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience (2007).
// Steps: S publications; the last rank combines size-1 operands a segment.
// Bytes: rank r reads r n, and copies n in place.
// Cost:  2 alpha + (size-1) n (beta + gamma) + n beta. For short messages.
// Restrictions: a segment fits into a slot.
#include "algorithms/combining.h"
#include "algorithms/prefix_work.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_exscan_direct {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  PrefixWork work(builder);
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    work.provide(s);
    if (rank > 0) builder.get(work.from(0, s), work.output(s));
    for (uint32_t peer = 1; peer < rank; ++peer) {
      builder.combine_from(work.from(peer, s), work.output(s), work.output(s), /*incoming_left=*/false);
    }
    work.release_all(s);
  }
}

}  // namespace of_exscan_direct
}  // namespace

constinit const Algorithm exscan_direct = published_and_combined({
    .collective = schedule::Collective::kExscan,
    .name = "direct",
    .summary = "everyone publishes, everyone combines the operands before its own",
    .reference = "after Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and "
                 "Experience, 2007 (allreduce direct)",
    .build = of_exscan_direct::build,
});

}  // namespace hocket::algorithms
