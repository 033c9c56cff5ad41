// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its operand and combines those of the ranks before it with its own: one scheduling round.
//
// In place, operands are published from scratch memory.
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
namespace of_scan_direct {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  PrefixWork work(builder);
  for (uint32_t s = 0; s < builder.segments(); ++s) {
    work.provide(s);
    combine_in_rank_order(builder, rank + 1, work.own(s), work.output(s),
                          [&](uint32_t peer) { return work.from(peer, s); });
    work.release_all(s);
  }
}

}  // namespace of_scan_direct
}  // namespace

constinit const Algorithm scan_direct = published_and_combined({
    .collective = schedule::Collective::kScan,
    .name = "direct",
    .summary = "everyone publishes, everyone combines the operands before its own",
    .reference = "after Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and "
                 "Experience, 2007 (allreduce direct)",
    .build = of_scan_direct::build,
});

}  // namespace hocket::algorithms
