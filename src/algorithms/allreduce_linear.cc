// SPDX-License-Identifier: BSD-3-Clause
// Everyone sends everyone its operand and combines all of them in rank order: one round, where a hypercube takes
// several.
//
// All combine in the same order, so all get the same bits.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend), for allreduce.
// Steps: one of size-1 sends and as many receives, then size-1 combinations.
// Bytes: a rank sends and receives (size-1) n.
// Cost:  alpha + (size-1) n (beta + gamma). For few ranks, such as leaders, where rounds cost more than messages.
// Restrictions: up to 16 ranks: every operand has a scratch area.
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allreduce_linear {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kMostRanks = 16;

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  if (size == 1) return builder.copy(builder.input(), builder.output());
  std::vector<Slice> operands;
  for (uint32_t i = 0; i < size; ++i)
    operands.push_back(Builder::in_scratch(builder.scratch_area(builder.input()), builder.input(), builder.input()));
  builder.begin_stage();
  for (uint32_t i = 1; i < size; ++i) builder.send((rank + i) % size, builder.input());
  builder.copy(builder.input(), operands[rank]);
  for (uint32_t i = 1; i < size; ++i) builder.receive((rank + size - i) % size, operands[(rank + size - i) % size]);
  builder.end_stage();
  for (uint32_t i = 1; i < size; ++i) builder.combine(operands[i], operands[0], /*source_left=*/false);
  builder.copy(operands[0], builder.output());
}

}  // namespace of_allreduce_linear
}  // namespace

constinit const Algorithm allreduce_linear = {
    .collective = schedule::Collective::kAllreduce,
    .name = "linear",
    .summary = "everyone sends everyone its operand and combines all of them",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_allreduce_linear::build,
    .root_relative = false,
    .can_keep_order = true,
    .max_size = of_allreduce_linear::kMostRanks,
};

}  // namespace hocket::algorithms
