// SPDX-License-Identifier: BSD-3-Clause
// Everyone publishes its row of blocks, everyone copies its own block out of each: one scheduling round.
//
// Reference: after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend): a row
//   published once instead of a message to everyone.
// Steps: one publication, and size-1 gets at a time.
// Bytes: a rank reads (size-1) n and publishes size n; n is one block.
// Cost:  2 alpha + 2 size n beta.
// Restrictions: a row of size blocks fits into a slot.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_direct {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const schedule::Slice mine = Builder::part(builder.input(), rank, size);
  if (size > 1) builder.publish(0, builder.input());
  builder.begin_stage();
  builder.copy(mine, Builder::part(builder.output(), rank, size));
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t peer = (rank + i) % size;
    builder.get({.peer = peer, .part = mine, .whole = builder.input()}, Builder::part(builder.output(), peer, size));
  }
  builder.end_stage();
}

}  // namespace of_alltoall_direct
}  // namespace

constinit const Algorithm alltoall_direct = {
    .collective = schedule::Collective::kAlltoall,
    .name = "direct",
    .summary = "everyone publishes its row, everyone copies its block out of each",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_alltoall_direct::build,
    .root_relative = false,
    .publishes_rows = true,
};

}  // namespace hocket::algorithms
