// SPDX-License-Identifier: BSD-3-Clause
// Blocks travel dimension by dimension; what goes equally far along one is one message (neighbor_dimensions.h).
//
// Reference: Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse Collective
//   Communication (2016), alltoall.
// Steps: as many as there are dimensions, and copies.
// Bytes: a rank sends and receives v n: n is one block, and v how many dimensions the offsets of a rank's neighbours
//   differ from 0 in, all together.
// Cost:  m alpha + v n beta, and the copies; m is how many different numbers of steps there are along each dimension,
//   all together: 6 of 26 neighbours in three dimensions.
//   Where blocks differ in length, an exchange of their lengths before that: as many steps and messages again.
// Restrictions: neighbours on a grid, all at the same offsets.
#include "algorithms/neighbor_dimensions.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {

constinit const Algorithm neighbor_alltoall_dimensions = {
    .collective = schedule::Collective::kNeighborAlltoall,
    .name = "dimensions",
    .summary = "blocks travel dimension by dimension, with all that goes equally far",
    .reference =
        "Traeff, Carpen-Amarie, Hunold, Rougier, Message-Combining Algorithms for Isomorphic, Sparse "
        "Collective Communication",
    .build = exchange_by_dimension,
    .root_relative = false,
    .takes_vectors = true,
    .why_not_among = why_not_by_dimension,
    .tells_lengths = tell_lengths_by_dimension,
};

}  // namespace hocket::algorithms
