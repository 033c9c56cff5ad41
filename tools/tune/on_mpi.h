// SPDX-License-Identifier: BSD-3-Clause
// `hocket tune -- LAUNCHER ...`: a table for ranks of an MPI, on several nodes or on one. One job measures several
// shapes: parts of its ranks, on fewer nodes or fewer on each, while the others sleep.
//
// Thread safety: none. Collective over the ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/mpi/ranks.h"
#include "tune/measure.h"

namespace hocket::command {

struct ClusterTuning {
  TuneOptions options;
  std::string output;   // a file; "": stdout
  std::string network;  // a file; "": none
  std::string shapes;   // "2x4,4x4"; "": the usual ones
  std::string merge;    // a file, "shipped" or "none"
  bool json = false;
  bool has_usual_budget = false;  // in place of the options': as the cores of all ranks ask for
};

// The exit code. The options' cores are found out here.
int tune_on_mpi(bench::MpiRanks& ranks, const ClusterTuning& tuning);

// Nodes, and ranks on each.
struct ClusterShape {
  uint32_t nodes = 1;
  uint32_t ranks_a_node = 1;

  bool operator==(const ClusterShape&) const = default;
};
// By ranks a node, then by nodes: those of one rank a node first, since leaders are such ranks. Errors name the word.
Result<std::vector<ClusterShape>> shapes_of(const std::string& text, const schedule::Nodes& placement);

// A file, "none", or "shipped": what ranks use that share so many cores; the first one, if that isn't known.
Result<selection::Table> base_named(const std::string& name, std::optional<uint32_t> cores = {});

// What is left of a table's rules beside new ones: all but those of the same collective whose nodes and ranks a node
// the new ones cover.
std::vector<selection::Rule> left_beside(std::span<const selection::Rule> fresh, std::span<const selection::Rule> old);

}  // namespace hocket::command
