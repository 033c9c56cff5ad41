// SPDX-License-Identifier: BSD-3-Clause
// The collective operations hocket knows, and how much of each buffer one rank holds for them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket::schedule {

// As their MPI namesakes: kBarrier, kBroadcast, ... of the table. The vector versions come last: their blocks differ in
// length and may lie anywhere; they share the algorithms of the collective that they are a version of. Behind them
// those among neighbours, which are not counted among the others.
enum class Collective : uint8_t {
#define HOCKET_COLLECTIVE(constant, ...) k##constant,
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, ...) k##constant,
#include "base/collectives.def"
};
inline constexpr int kCollectives = 0
#define HOCKET_COLLECTIVE(...) +1
#include "base/collectives.def"
    ;
inline constexpr int kAllCollectives = kCollectives
#define HOCKET_NEIGHBOR_COLLECTIVE(...) +1
#include "base/collectives.def"
    ;

// "barrier", "broadcast", ...: the names of the command line, the environment and the tables.
std::string_view name(Collective collective);
std::optional<Collective> collective_from_name(std::string_view text);

// The collective whose algorithms serve it: of a vector version the one with blocks of equal length, else itself.
Collective base_of(Collective collective);
constexpr bool is_vector(Collective collective) {
  return collective >= Collective::kGatherv && collective <= Collective::kNeighborAlltoallv;
}
// Among the neighbours that a neighbourhood gives each rank (neighbours.h).
constexpr bool is_among_neighbors(Collective collective) { return collective >= Collective::kNeighborAllgatherv; }

bool has_root(Collective collective);
// Operands are combined, so that their order may matter.
bool combines(Collective collective);
// Of a collective that combines: how many ranks' operands, counted from rank 0, are in the result of `rank`. 0: it gets
// none.
uint32_t combined_ranks(Collective collective, uint32_t rank, uint32_t size);
// A rank gets what the ranks up to it have: compositions of it are for nodes of neighbouring ranks, whatever the
// operation.
inline bool is_prefix(Collective collective) { return combines(collective) && combined_ranks(collective, 0, 2) < 2; }
// A call in place works on a copy of its input, because peers still read what it would overwrite: there are more blocks
// in the input than results fit beside.
bool copies_input_in_place(Collective collective);
// All ranks are told all lengths, so that a choice may look at them.
bool lengths_are_agreed(Collective collective);

// A buffer's extent in units of the call's count, for a communicator of `size` ranks: 0 where the collective
// has no such buffer, 1 for a vector of `count` elements, `size` where there is a block a rank. Not of those among
// neighbours, which know their own (plan.h).
uint32_t input_blocks(Collective collective, uint32_t size);
uint32_t output_blocks(Collective collective, uint32_t size);
bool has_block_a_rank(Collective collective);  // in either buffer
// Whether a rank has that buffer, if the collective has: the root's may be the only one.
bool has_input(Collective collective, bool is_root);
bool has_output(Collective collective, bool is_root);

}  // namespace hocket::schedule
