// SPDX-License-Identifier: BSD-3-Clause
// All algorithms that can serve a call, simulated: which is the best at which size, and where another one becomes it.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "selection/choice.h"
#include "simulate/simulation.h"

namespace hocket::command {

// With the network's model as the table. nullptr: what the model chooses.
Result<Simulated> simulate_spec(const SimulateOptions& options, const selection::Spec* spec);

// What is worth trying for the call, each degree of it.
std::vector<selection::Spec> specs_worth_simulating(const selection::Query& query);

// The fastest first; of equally fast ones by their names. What can't serve the call is missing.
std::vector<Simulated> simulate_specs(const SimulateOptions& options, const std::vector<selection::Spec>& specs);
// All that is worth it.
std::vector<Simulated> simulate_all(const SimulateOptions& options);
// Where that is nothing: why not, of what would be chosen.
std::string why_none(const SimulateOptions& options);

struct Crossover {
  std::string before;
  uint64_t before_up_to = 0;  // bytes at which that one is still the best
  std::string best;
  uint64_t from = 0;   // bytes, the next that was looked at
  double best_us = 0;  // there
  double before_us = 0;
};

struct BestBySize {
  struct Size {
    uint64_t bytes = 0;
    std::vector<Simulated> all;  // as simulate_all()
  };
  std::vector<Size> sizes;
  std::vector<Crossover> crossovers;  // ascending
};

// `sizes`: ascending. Between two of them whose best algorithms differ the crossover is sought by bisection, to within
// an element or a hundredth of the size, among those that take less than twice as long as the best at one of the two:
// of several ones that lie there one may be missed.
Result<BestBySize> best_by_size(const SimulateOptions& options, const std::vector<uint64_t>& sizes);

}  // namespace hocket::command
