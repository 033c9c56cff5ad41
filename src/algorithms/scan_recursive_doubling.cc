// SPDX-License-Identifier: BSD-3-Clause
// In each step everyone sends what it has combined so far twice as far to the right.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006).
// Steps: ceil(log2 size) exchanges.
// Bytes: a rank sends, receives and combines up to n ceil(log2 size), and copies n.
// Cost:  ceil(log2 size) (alpha + n beta + n gamma) + n beta.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scan_recursive_doubling {

using schedule::Builder;
using schedule::Slice;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const Slice input = builder.input();
  // What is sent must not change meanwhile, and the input may lie in the output: results go to two areas in turn.
  const auto area = [&] { return Builder::in_scratch(builder.scratch_area(input), input, input); };
  Slice current = input;
  Slice spare;
  for (uint32_t distance = 1; distance < size; distance *= 2) {
    const bool receives = rank >= distance;
    if (receives && spare.buffer == schedule::Buffer::kNone) spare = area();
    builder.begin_stage();
    if (rank + distance < size) builder.send(rank + distance, current);
    if (receives) builder.receive_combine(rank - distance, current, spare, /*incoming_left=*/true);
    builder.end_stage();
    if (!receives) continue;
    const Slice next = spare;
    spare = current.buffer == schedule::Buffer::kScratch ? current : Slice{};
    current = next;
  }
  builder.copy(current, builder.output());
}

}  // namespace of_scan_recursive_doubling
}  // namespace

constinit const Algorithm scan_recursive_doubling = {
    .collective = schedule::Collective::kScan,
    .name = "recursive_doubling",
    .summary = "send what is combined so far twice as far each time",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_scan_recursive_doubling::build,
    .root_relative = false,
    .can_keep_order = true,
};

}  // namespace hocket::algorithms
