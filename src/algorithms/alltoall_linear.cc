// SPDX-License-Identifier: BSD-3-Clause
// Everyone sends everyone its block, all messages at a time.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (A2, irecv-isend).
// Steps: one of size-1 sends and as many receives.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  alpha + (size-1) n beta.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  builder.begin_stage();
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t to = (rank + i) % size;
    builder.send(to, Builder::part(builder.input(), to, size));
  }
  builder.copy(Builder::part(builder.input(), rank, size), Builder::part(builder.output(), rank, size));
  for (uint32_t i = 1; i < size; ++i) {
    const uint32_t from = (rank + size - i) % size;
    builder.receive(from, Builder::part(builder.output(), from, size));
  }
  builder.end_stage();
}

}  // namespace

constinit const Algorithm alltoall_linear = {
    .collective = schedule::Collective::kAlltoall,
    .name = "linear",
    .summary = "everyone sends everyone its block, all at a time",
    .reference = "Kumar, Mamidala, Panda, Multi-core alltoall (irecv-isend)",
    .build = build,
    .root_relative = false,
    .takes_vectors = true,
};

}  // namespace hocket::algorithms
