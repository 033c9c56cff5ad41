// SPDX-License-Identifier: BSD-3-Clause
// From measurements to the rules of a tuning table.
//
// The shortest table is sought that is nowhere slower than the best by more than noise: neighbouring sizes share a
// rule wherever one algorithm is good enough for all of them. Where the winner changes between two measured sizes, the
// rule begins where their times cross, as far as four numbers can tell.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "selection/choice.h"

namespace hocket::command {

// Times in microseconds of algorithms with their parameters, as table entries name them.
using Times = std::map<std::string, double>;

struct MeasuredCell {
  schedule::Collective collective = schedule::Collective::kBarrier;
  uint32_t ranks = 1;
  bool oversubscribed = false;
  uint64_t bytes = 0;
  Times us;
  uint32_t nodes = 1;
  uint32_t ranks_a_node = 0;  // on several nodes: the most
};

// Within this factor of the best, an algorithm counts as equally good.
inline constexpr double kNoise = 1.04;

// Rules by collective, then uncrowded before crowded, those of one node first, then by ranks (on several nodes: by
// nodes and ranks a node) and bytes. Each measured number of ranks stands for those nearest to it, the largest for
// those up to one and a half times as many or, where ranks share cores and more of them only wait longer for their
// turn, four times; what is not covered is left to the model. Cells without a time are left out, and so are the MPI's.
// Errors: a name that is no algorithm.
Result<std::vector<selection::Rule>> make_rules(std::span<const MeasuredCell> cells, double noise = kNoise);

// Rules to be put before those, for the MPI of that name alone: where its own algorithm was ahead of all others by more
// than the noise and what it takes to pass a call through.
Result<std::vector<selection::Rule>> make_rules_of_mpi(std::span<const MeasuredCell> cells, double noise,
                                                       const std::string& wire);

// A line of a table, its columns in place.
std::string aligned_line(const selection::Rule& rule);

}  // namespace hocket::command
