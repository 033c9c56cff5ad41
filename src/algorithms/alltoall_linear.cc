// SPDX-License-Identifier: BSD-3-Clause
// Every rank sends every other its block, all messages at a time or, with a window, that many.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend).
// Steps: one of size-1 sends and as many receives; ceil((size-1)/w) with a window (the degree) of w messages.
// Bytes: a rank sends and receives (size-1) n; n is one block.
// Cost:  alpha + (size-1) n beta; ceil((size-1)/w) alpha + (size-1) n beta.
// Restrictions: none.
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_linear {

using schedule::Builder;

constexpr uint32_t kDegrees[] = {kFlat};
constexpr uint32_t kDegreesOverNodes[] = {4, 16};

// To the ranks first .. last-1 behind this one, and from as many before it.
void send(Builder& builder, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    const uint32_t to = (builder.rank() + i) % builder.size();
    if (const auto block = builder.input_block(to); !block.is_empty()) builder.send(to, block);
  }
}

void receive(Builder& builder, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < last; ++i) {
    const uint32_t from = (builder.rank() + builder.size() - i) % builder.size();
    if (const auto block = builder.output_block(from); !block.is_empty()) builder.receive(from, block);
  }
}

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const uint32_t window = degree_of(builder, kDegrees);
  const auto copy = [&] {
    if (const auto block = builder.input_block(rank); !block.is_empty())
      builder.copy(block, builder.output_block(rank));
  };
  if (window >= size - 1) {
    builder.begin_stage();
    send(builder, 1, size);
    copy();
    receive(builder, 1, size);
    return builder.end_stage();
  }
  // Where messages are bounded they are long or many: better to have a place for what comes before anything goes out.
  for (uint32_t first = 1; first < size; first += window) {
    const uint32_t last = std::min(first + window, size);
    builder.begin_stage();
    receive(builder, first, last);
    send(builder, first, last);
    if (first == 1) copy();
    builder.end_stage();
  }
}

}  // namespace of_alltoall_linear
}  // namespace

constinit const Algorithm alltoall_linear = {
    .collective = schedule::Collective::kAlltoall,
    .name = "linear",
    .summary = "everyone sends everyone its block, all at a time or a window of messages",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (irecv-isend)",
    .build = of_alltoall_linear::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
    .degrees = of_alltoall_linear::kDegrees,
    .degrees_over_nodes = of_alltoall_linear::kDegreesOverNodes,
    .degree_name = "window",
    .degree_most = "all",
};

}  // namespace hocket::algorithms
