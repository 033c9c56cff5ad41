// SPDX-License-Identifier: BSD-3-Clause
// All blocks that a rank has for another one are one message, side by side in scratch memory where they don't lie so.
//
// Reference: after Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse
//   Collective Communication (2016), of which it is the simplest case: no rank passes on another's blocks.
// Steps: 1, and a copy before and after it.
// Bytes: a rank sends d n and receives s n, and copies as much on each side where pairs of ranks have several blocks; d
//   and s are its destinations and sources, n is one block.
// Cost:  p alpha + max(d, s) n beta, with p the ranks among its neighbours, and the copies.
// Restrictions: some ranks have several blocks for each other.
#include <algorithm>

#include "algorithms/block_row.h"
#include "algorithms/neighbor_blocks.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_alltoall_joined {

using schedule::Builder;
using schedule::Neighbours;
using schedule::Slice;

bool is_joined(const Builder& builder, const PeerBlocks& with) {
  return with.peer != builder.rank() && with.blocks.size() > 1;
}

// Room for all blocks of those with whom there are several, by the numbers that they have in the graph. One area, since
// there may be more of such ranks than areas.
struct Room {
  Slice row;
  uint32_t blocks = 0;
  uint32_t next = 0;

  Slice take(uint32_t count) {
    next += count;
    return Builder::parts_of(row, next - count, next, blocks);
  }
};

template <typename NumberOf>
Room make_room(Builder& builder, const std::vector<PeerBlocks>& all, const NumberOf& number_of) {
  BlockList blocks;
  for (const PeerBlocks& with : all)
    if (is_joined(builder, with))
      for (const uint32_t k : with.blocks) blocks.push_back(number_of(builder.rank(), k));
  const auto count = static_cast<uint32_t>(blocks.size());
  if (count == 0) return {};
  return {builder.scratch_row(std::move(blocks)), count};
}

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const Neighbours& neighbours = builder.neighbours();
  const std::vector<PeerBlocks> outgoing = by_destination(neighbours, rank);
  const std::vector<PeerBlocks> incoming = by_source(neighbours, rank);
  const auto out = [&](uint32_t of, uint32_t k) { return neighbours.number_out(of, k); };
  const auto in = [&](uint32_t of, uint32_t k) { return neighbours.number_in(of, k); };
  Room sent = make_room(builder, outgoing, out);
  Room received = make_room(builder, incoming, in);
  builder.begin_stage();
  for (const PeerBlocks& to : outgoing)
    if (is_joined(builder, to))
      for (const uint32_t k : to.blocks) builder.copy(block_out(builder, k), sent.take(1));
  builder.end_stage();
  sent.next = 0;
  builder.begin_stage();
  for (const PeerBlocks& to : outgoing) {
    if (to.peer == rank) continue;
    const auto count = static_cast<uint32_t>(to.blocks.size());
    builder.send(to.peer, count > 1 ? sent.take(count) : block_out(builder, to.blocks.front()));
  }
  for (const PeerBlocks& from : incoming) {
    if (from.peer == rank) continue;
    const auto count = static_cast<uint32_t>(from.blocks.size());
    builder.receive(from.peer, count > 1 ? received.take(count) : block_in(builder, from.blocks.front()));
  }
  copy_own_blocks(builder);
  builder.end_stage();
  received.next = 0;
  builder.begin_stage();
  for (const PeerBlocks& from : incoming)
    if (is_joined(builder, from))
      for (const uint32_t k : from.blocks) builder.copy(received.take(1), block_in(builder, k));
  builder.end_stage();
}

std::string_view why_not(const Neighbours& neighbours, const schedule::Nodes* /*nodes*/) {
  for (uint32_t rank = 0; rank < neighbours.ranks(); ++rank)
    for (const PeerBlocks& to : by_destination(neighbours, rank))
      if (to.peer != rank && to.blocks.size() > 1) return {};
  return "no rank has several blocks for another one";
}

}  // namespace of_neighbor_alltoall_joined
}  // namespace

constinit const Algorithm neighbor_alltoall_joined = {
    .collective = schedule::Collective::kNeighborAlltoall,
    .name = "joined",
    .summary = "all blocks for the same neighbour are one message",
    .reference =
        "after Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse "
        "Collective Communication",
    .build = of_neighbor_alltoall_joined::build,
    .root_relative = false,
    .takes_vectors = true,
    .why_not_among = of_neighbor_alltoall_joined::why_not,
};

}  // namespace hocket::algorithms
