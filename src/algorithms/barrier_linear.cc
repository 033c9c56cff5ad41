// SPDX-License-Identifier: BSD-3-Clause
// Everyone signals everyone, all messages at a time: one round, where others take a logarithm of them.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend), of no bytes.
// Steps: one of size-1 sends and as many receives.
// Bytes: none; size (size-1) empty messages.
// Cost:  alpha. For few ranks, such as leaders, where rounds cost more than messages.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_barrier_linear {

void build(schedule::Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return;
  builder.begin_stage();
  for (uint32_t i = 1; i < size; ++i) builder.send((rank + i) % size, {});
  for (uint32_t i = 1; i < size; ++i) builder.receive((rank + size - i) % size, {});
  builder.end_stage();
}

}  // namespace of_barrier_linear
}  // namespace

constinit const Algorithm barrier_linear = {
    .collective = schedule::Collective::kBarrier,
    .name = "linear",
    .summary = "everyone signals everyone, all at a time",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_barrier_linear::build,
    .root_relative = false,
};

}  // namespace hocket::algorithms
