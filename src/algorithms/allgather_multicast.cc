// SPDX-License-Identifier: BSD-3-Clause
// Each rank multicasts its block once, and a ring of messages brings what is missed. Ranks that follow each other make
// a chain: the first multicasts at once, each other one when it has the block of the rank before, so that as many
// multicast at a time as there are chains. Around the ring goes first a rank's own block, then what it has of the rank
// before, and so on, as in allgather_ring; an engine sends what the next rank is missing and nothing else.
//
// Reference: Khalilov, Di Girolamo, Chrapek, Nudelman, Bloch, Hoefler, Network-Offloaded Bandwidth-Optimal Broadcast
//   and Allgather for Distributed AI (2024), sections III and IV: multicasts in several chains at a time, what is
//   missed by a ring. There a rank fetches what it misses after a timeout; here it is offered what its predecessor has.
//   After Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
//   Clusters with Multicast (2007), section 2.
// Steps: size/c multicasts one after the other with c chains, and an answer.
// Bytes: a rank sends n by multicast, n being one block, and receives (size-1) n; what the next rank has missed once
//   more.
// Cost:  (size/c + 1) alpha + size n beta where multicasts come; without any, 3 (size-1) alpha + (size-1) n beta.
// Restrictions: one rank a node, and a network that multicasts.
#include <algorithm>

#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_multicast {

using schedule::Builder;
using schedule::Slice;

constexpr uint32_t kDegrees[] = {kFlat, 1, 2, 4, 8, 16};
// What may be under way at a time: about what a socket keeps with the limit that Linux sets unasked
// (net.core.rmem_max), less the kernel's own book-keeping.
constexpr uint64_t kAtATimeBytes = 128 * 1024;
constexpr uint64_t kFewestChains = 4;

uint32_t chains_by_length(uint32_t ranks, uint64_t block_bytes) {
  const uint64_t fit = std::max(kAtATimeBytes / std::max<uint64_t>(block_bytes, 1), kFewestChains);
  return static_cast<uint32_t>(std::min<uint64_t>(fit, std::max(ranks, 1u)));
}

// Of the chains that ranks 0 .. size-1 make.
bool begins_chain(uint32_t rank, uint32_t size, uint32_t chains) {
  const auto chain_of = [&](uint64_t one) { return ((one + 1) * chains - 1) / size; };
  return rank == 0 || chain_of(rank) != chain_of(rank - 1);
}

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  // Any number that leaves no rank to wait for another is as many as there are ranks.
  const uint32_t asked = degree_of(builder, kDegrees);
  const uint32_t chains = asked >= size - 1 ? size : asked;
  const uint32_t next = (rank + 1) % size;
  const uint32_t before = (rank + size - 1) % size;
  const auto source = [&](uint32_t back) { return (rank + size - back) % size; };
  const auto block = [&](uint32_t back) { return builder.output_block(source(back)); };
  builder.begin_stage();
  if (!block(0).is_empty()) builder.copy(builder.input(), block(0));
  for (uint32_t back = 1; back < size; ++back)
    if (!block(back).is_empty()) builder.expect(source(back), block(back));
  builder.end_stage();
  const auto take = [&](uint32_t back) {
    if (!block(back).is_empty()) builder.first_of(before, source(back), block(back));
  };
  if (size == 1) return;
  const bool waits = !begins_chain(rank, size, chains);
  if (waits) take(1);
  // Not passed on before: a rank that holds its multicast back would be overtaken by the ring.
  if (!block(0).is_empty()) builder.multicast(block(0), chains);
  for (uint32_t back = 1; back < size; ++back) {
    builder.begin_stage();
    if (!block(back - 1).is_empty()) builder.pass_on(next, block(back - 1));
    if (back > 1 || !waits) take(back);
    builder.end_stage();
  }
}

}  // namespace of_allgather_multicast
}  // namespace

constinit const Algorithm allgather_multicast = {
    .collective = schedule::Collective::kAllgather,
    .name = "multicast",
    .summary = "each block by multicast, some ranks at a time, and around a ring for those who have missed it",
    .reference =
        "Khalilov et al., Network-Offloaded Bandwidth-Optimal Broadcast and Allgather for Distributed AI, 2024; "
        "Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm",
    .build = of_allgather_multicast::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
    .degrees = of_allgather_multicast::kDegrees,
    .degree_by_length = of_allgather_multicast::chains_by_length,
    .degree_name = "chains",
    .degree_most = "all",
};

}  // namespace hocket::algorithms
