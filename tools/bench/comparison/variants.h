// SPDX-License-Identifier: BSD-3-Clause
// What --variants names: "mpi", "hocket", algorithms with their parameters, "all".
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.h"
#include "words/grid.h"

namespace hocket::command {

inline constexpr const char* kMpiVariant = "mpi";
inline constexpr const char* kOwnChoice = "hocket";

// The variants of a collective in their order, `all` spelt out. Without any that are asked for: `usual`.
std::vector<std::string> variants_of(const bench::Options& options, bench::Collective collective,
                                     const std::vector<std::string>& usual);
// Where collectives among neighbours are measured: whose these are. `has_mpi`: as lists where an MPI's topologies say
// no more of them. Not ok: the grid doesn't fit so many ranks.
Status set_halo(const GridWords& words, int ranks, bool has_mpi, bench::Options& options);
// kMpiVariant (if there is an MPI), kOwnChoice, and every algorithm of the collective.
std::vector<std::string> all_variants(bench::Collective collective, bool has_mpi);
// An algorithm must be one of a collective that is measured. "" or what is wrong.
std::string unknown_variant(const bench::Options& options, bool has_mpi);

}  // namespace hocket::command
