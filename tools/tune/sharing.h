// SPDX-License-Identifier: BSD-3-Clause
// What cores cost each other: a line that several look at, a cache that several read from, a memory that all copy
// through, and what is farther away. The parameters of the cost model that no race of algorithms shows one by one.
//
// Threads on cores of their own stand for ranks. Times are from one core's clock to another's, by CLOCK_MONOTONIC, and
// of each the median over many rounds.
//
// Thread safety: none, of what measures: its threads have ended when it returns; the rest are pure functions.
#pragma once

#include "selection/cost_parameters.h"

namespace hocket::command {

// Where the cores are and, in less than three seconds, what was found: 0 is what so few cores can't show. Needs two
// cores for the memory, three for lines and caches.
selection::CostParameters measure_sharing(uint32_t cores);

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
void put_into(const Sharing& found, selection::CostParameters& parameters);

}  // namespace hocket::command
