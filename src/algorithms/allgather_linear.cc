// SPDX-License-Identifier: BSD-3-Clause
// Everyone sends everyone its block, all messages at a time: one round, where those that go by distances take several.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend), for allgather.
// Steps: one of size-1 sends and as many receives.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  alpha + (size-1) n beta. For few ranks, such as leaders, where rounds cost more than messages.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_linear {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const schedule::Slice own = builder.output_block(rank);
  if (!own.is_empty()) builder.copy(builder.input(), own);
  if (size == 1) return;
  builder.begin_stage();
  for (uint32_t i = 1; i < size && !own.is_empty(); ++i) builder.send((rank + i) % size, own);
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t from = (rank + size - i) % size;
    if (const auto block = builder.output_block(from); !block.is_empty()) builder.receive(from, block);
  }
  builder.end_stage();
}

}  // namespace of_allgather_linear
}  // namespace

constinit const Algorithm allgather_linear = {
    .collective = schedule::Collective::kAllgather,
    .name = "linear",
    .summary = "everyone sends everyone its block, all at a time",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_allgather_linear::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
