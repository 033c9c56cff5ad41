// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/arguments.h"

#include <numeric>

namespace hocket::communicator {

using schedule::Collective;

uint64_t block_offset(const Arguments& arguments, const schedule::BlockVector& blocks, uint32_t rank) {
  const uint64_t element = arguments.combiner.element_bytes;
  if (blocks.counts == nullptr) return rank * arguments.count * element;
  if (blocks.displacements != nullptr) return blocks.displacements[rank] * element;
  return std::accumulate(blocks.counts, blocks.counts + rank, uint64_t{0}) * element;
}

void set_in_place(Arguments& arguments, uint32_t rank) {
  arguments.in_place = true;
  switch (schedule::base_of(arguments.collective)) {
    case Collective::kGather:
    case Collective::kAllgather:
      arguments.input = arguments.output + block_offset(arguments, arguments.output_blocks, rank);
      break;
    case Collective::kScatter:
      // Its own block stays in the input, which nothing else is written to.
      arguments.output =
          const_cast<std::byte*>(arguments.input) + block_offset(arguments, arguments.input_blocks, rank);
      break;
    case Collective::kAlltoall:
      arguments.input_blocks = arguments.output_blocks;
      [[fallthrough]];
    default:
      arguments.input = arguments.output;
      break;
  }
}

}  // namespace hocket::communicator
