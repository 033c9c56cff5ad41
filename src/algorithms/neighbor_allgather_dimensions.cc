// SPDX-License-Identifier: BSD-3-Clause
// A rank's block travels dimension by dimension, and parts where the ways of its destinations do; what goes equally far
// along one is one message (neighbor_dimensions.h).
//
// Reference: Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse Collective
//   Communication (2016), allgather.
// Steps: as many as there are dimensions, and copies.
// Bytes: a rank sends and receives v n: n is one block, and v how many different ways there are that end with a step
//   along some dimension: 26 for 26 neighbours in three dimensions, as if each had a message.
// Cost:  m alpha + v n beta, and the copies; m is how many different numbers of steps there are along each dimension,
//   all together.
// Restrictions: neighbours on a grid, all at the same offsets.
#include "algorithms/neighbor_dimensions.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {

constinit const Algorithm neighbor_allgather_dimensions = {
    .collective = schedule::Collective::kNeighborAllgather,
    .name = "dimensions",
    .summary = "blocks travel dimension by dimension, with all that goes equally far",
    .reference =
        "Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse "
        "Collective Communication",
    .build = exchange_by_dimension,
    .root_relative = false,
    .why_not_among = why_not_by_dimension,
};

}  // namespace hocket::algorithms
