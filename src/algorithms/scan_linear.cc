// SPDX-License-Identifier: BSD-3-Clause
// A chain: each rank combines what comes from the left with its own and passes it on, segment by segment.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006).
// Steps: size-1 hops; S-1 more of them with S segments.
// Bytes: n in and n out at a rank.
// Cost:  (size-1 + S-1) (alpha + n/S (beta + gamma)).
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scan_linear {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t segments = builder.segments();
  const bool sends = rank + 1 < builder.size();
  const auto output = [&](uint32_t s) { return Builder::part(builder.output(), s, segments); };
  if (rank == 0) builder.copy(builder.input(), builder.output());
  for (uint32_t s = 0; s <= segments; ++s) {
    builder.begin_stage();
    if (sends && s > 0) builder.send(rank + 1, output(s - 1));
    if (rank > 0 && s < segments) {
      builder.receive_combine(rank - 1, Builder::part(builder.input(), s, segments), output(s), /*incoming_left=*/true);
    }
    builder.end_stage();
  }
}

}  // namespace of_scan_linear
}  // namespace

constinit const Algorithm scan_linear = {
    .collective = schedule::Collective::kScan,
    .name = "linear",
    .summary = "a chain: each rank adds its own to what comes from the left",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_scan_linear::build,
    .root_relative = false,
    .can_keep_order = true,
    .segmented = true,
};

}  // namespace hocket::algorithms
