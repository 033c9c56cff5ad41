// SPDX-License-Identifier: BSD-3-Clause
// On a grid whose ranks all have neighbours at the same offsets, blocks travel dimension by dimension: what goes the
// same number of steps along one is one message, whatever its way along the others. A diagonal neighbour needs no
// message of its own, since its block goes on with others'.
//
// What travels: of an alltoall each block by itself; of an allgather the rank's block, which parts where the ways of
// its destinations do.
//
// Reference: Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse Collective
//   Communication (2016).
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <string_view>

#include "schedule/builder.h"

namespace hocket::algorithms {

void exchange_by_dimension(schedule::Builder& builder);

// As Algorithm::why_not_among.
std::string_view why_not_by_dimension(const schedule::Neighbours& neighbours, const schedule::Nodes* nodes);

}  // namespace hocket::algorithms
