// SPDX-License-Identifier: BSD-3-Clause
// On a grid whose ranks all have neighbours at the same offsets, blocks travel dimension by dimension: what goes the
// same number of steps along one is one message, whatever its way along the others. A diagonal neighbour needs no
// message of its own, since its block goes on with others'.
//
// What travels: of an alltoall each block by itself; of an allgather the rank's block, which parts where the ways of
// its destinations do. Of an alltoall whose blocks differ in length they are copied into rows before they are sent, and
// ranks that pass them on are told their lengths by an exchange of numbers, which travel in the same way.
//
// Reference: Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse Collective
//   Communication (2016).
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <string_view>

#include "algorithms/algorithm.h"
#include "schedule/builder.h"

namespace hocket::algorithms {

void exchange_by_dimension(schedule::Builder& builder);

// As Algorithm::tells_lengths, of the alltoall: each rank tells those where its blocks change the dimension.
LengthsTold tell_lengths_by_dimension(const schedule::Neighbours& neighbours);

// As Algorithm::why_not_among.
std::string_view why_not_by_dimension(const schedule::Neighbours& neighbours, const schedule::Nodes* nodes);

}  // namespace hocket::algorithms
