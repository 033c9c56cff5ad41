// SPDX-License-Identifier: BSD-3-Clause
// Ranks as the vertices of a hypercube: along each dimension a rank gives away the half of the blocks that isn't its
// own half's, and combines what it gets for the other.
//
// Off powers of two, the first ranks pair up beforehand, and get their block in the end.
//
// Reference: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH (2005).
// Steps: floor(log2 size) exchanges, and 2 messages more off powers of two.
// Bytes: a rank sends, receives and combines (size-1) n, and size n more with an extra; n is one block.
// Cost:  floor(log2 size) alpha + (size-1) n (beta + gamma), plus 2 alpha + size n (beta + gamma) off powers of two.
// Restrictions: commutative operations.
#include "algorithms/fold_in.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_reduce_scatter_block_recursive_halving {

using schedule::Builder;
using schedule::Slice;

class Halving {
 public:
  Halving(Builder& builder, const Hypercube& cube)
      : builder_(builder), cube_(cube), area_(builder.scratch_area(builder.input())) {}

  void run() {
    if (cube_.has_extra) fold_in(builder_, cube_, partial(builder_.input()));
    bool is_input = !cube_.has_extra;  // where the partial results are so far
    uint32_t first = 0;
    for (uint32_t width = cube_.vertices() / 2; width > 0; width /= 2) {
      const bool is_lower = (cube_.vertex & width) == 0;
      const Slice kept = blocks_of(is_lower ? first : first + width, width);
      const Slice given = blocks_of(is_lower ? first + width : first, width);
      const uint32_t peer = cube_.rank_of(cube_.vertex ^ width);
      builder_.begin_stage();
      builder_.send(peer, is_input ? given : partial(given));
      builder_.receive_combine(peer, is_input ? kept : partial(kept), partial(kept), /*incoming_left=*/!is_lower);
      builder_.end_stage();
      is_input = false;
      if (!is_lower) first += width;
    }
    const Slice own = block(builder_.rank());
    builder_.begin_stage();
    builder_.copy(is_input ? own : partial(own), builder_.output());
    if (cube_.has_extra) builder_.send(builder_.rank() - 1, partial(block(builder_.rank() - 1)));
    builder_.end_stage();
  }

 private:
  Slice partial(const Slice& part) const { return Builder::in_scratch(area_, part, builder_.input()); }
  Slice block(uint32_t rank) const { return Builder::part(builder_.input(), rank, builder_.size()); }
  Slice blocks_of(uint32_t vertex, uint32_t vertices) const {
    return Builder::parts_of(builder_.input(), cube_.first_rank_of(vertex), cube_.first_rank_of(vertex + vertices),
                             builder_.size());
  }

  Builder& builder_;
  const Hypercube& cube_;
  uint8_t area_;
};

void build(Builder& builder) {
  const Hypercube cube = hypercube(builder.rank(), builder.size());
  if (builder.size() == 1) return builder.copy(builder.input(), builder.output());
  if (!cube.is_extra) return Halving(builder, cube).run();
  builder.send(builder.rank() + 1, builder.input());
  builder.receive(builder.rank() + 1, builder.output());
}

}  // namespace of_reduce_scatter_block_recursive_halving
}  // namespace

constinit const Algorithm reduce_scatter_block_recursive_halving = {
    .collective = schedule::Collective::kReduceScatterBlock,
    .name = "recursive_halving",
    .summary = "give away half of the blocks along each dimension of a hypercube",
    .reference = "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, 2005",
    .build = of_reduce_scatter_block_recursive_halving::build,
    .root_relative = false,
    .takes_vectors = true,
};

}  // namespace hocket::algorithms
