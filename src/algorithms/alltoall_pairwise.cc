// SPDX-License-Identifier: BSD-3-Clause
// One exchange after the other, each time with another rank: by exclusive or at powers of two, around the ring else.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (pairwise exchange).
// Steps: size-1 exchanges.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  (size-1) (alpha + n beta). For long blocks.
// Restrictions: none.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_pairwise {

using schedule::Builder;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const bool is_power_of_two = (size & (size - 1)) == 0;
  if (const auto own = builder.input_block(rank); !own.is_empty()) builder.copy(own, builder.output_block(rank));
  for (uint32_t step = 1; step < size; ++step) {
    const uint32_t to = is_power_of_two ? rank ^ step : (rank + step) % size;
    const uint32_t from = is_power_of_two ? rank ^ step : (rank + size - step) % size;
    builder.begin_stage();
    if (const auto block = builder.input_block(to); !block.is_empty()) builder.send(to, block);
    if (const auto block = builder.output_block(from); !block.is_empty()) builder.receive(from, block);
    builder.end_stage();
  }
}

}  // namespace of_alltoall_pairwise
}  // namespace

constinit const Algorithm alltoall_pairwise = {
    .collective = schedule::Collective::kAlltoall,
    .name = "pairwise",
    .summary = "one exchange after the other, each time with another rank",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (pairwise exchange)",
    .build = of_alltoall_pairwise::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
