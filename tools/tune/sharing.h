// SPDX-License-Identifier: BSD-3-Clause
// What cores cost each other: a line that several look at, a cache that several read from, a memory that all copy
// through, and what is farther away. The parameters of the cost model that no race of algorithms shows one by one.
//
// Threads on cores of their own stand for ranks. Times are from one core's clock to another's, by CLOCK_MONOTONIC, and
// of each the median over many rounds.
//
// Thread safety: none, of what measures: its threads have ended when it returns; the rest are pure functions.
#pragma once

#include <string>
#include <vector>

#include "platform/machine/core_place.h"
#include "simulation/network/cost_parameters.h"

namespace hocket::command {

// Where the cores are and what was found: 0 is what so few cores can't show. Needs two cores for the memory, whose
// caches' size the kernel says, and three for lines and caches. Lines take `limit_s`, a second at most, and the memory
// five rounds more. `folder`: what the kernel says of processors.
simulation::CostParameters measure_sharing(uint32_t cores, double limit_s,
                                           const std::string& folder = platform::kProcessorFolder);

// Cores, each by one processor, that are behind the first one's cache of the last level, one on its socket behind
// another cache, and one on another socket; -1: there is none. Where the first has its cache for itself, the nearest
// core is what others are farther than.
struct Neighbours {
  std::vector<int> near;
  int farther[2] = {-1, -1};
};
// Of at least one processor.
Neighbours neighbours_of(const std::vector<int>& processors, const std::string& folder = platform::kProcessorFolder);

// From measurements to parameters, in microseconds.
struct Sharing {
  uint32_t readers = 1;          // at a time, at most
  double kib = 0;                // that each of them copied
  double seen_us = 0;            // until one reader has seen a line
  double all_seen_us = 0;        // until the last of all has
  double copied_us = 0;          // what one reader takes to copy
  double all_copied_us = 0;      // what the slowest of all takes
  double memory_us_per_kib = 0;  // of one of all ranks that copy what no cache holds
  uint32_t copiers = 1;
  double farther_seen_us[2] = {};  // by one reader behind another cache, and on another socket; 0: there is none
  double farther_copied_us[2] = {};
};
void put_into(const Sharing& found, simulation::CostParameters& parameters);

}  // namespace hocket::command
