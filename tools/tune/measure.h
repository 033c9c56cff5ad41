// SPDX-License-Identifier: BSD-3-Clause
// Measures this machine: every collective, at several numbers of ranks and sizes, in the time that is given.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/network/cost_parameters.h"
#include "tune/race.h"
#include "tune/rules.h"
#include "words/progress.h"

namespace hocket::command {

struct TuneOptions {
  double budget_s = 60;
  std::vector<uint32_t> ranks;
  std::vector<schedule::Collective> collectives;
  uint64_t max_bytes = 1 << 20;
  uint64_t step = 8;                 // from size to size
  std::vector<uint64_t> sizes;       // these and no others; empty: by max_bytes and step
  uint32_t cores = 1;                // that ranks may use here
  simulation::CostParameters known;  // of the model, what has been measured by itself
};

// One algorithm in one cell.
struct Measurement {
  schedule::Collective collective = schedule::Collective::kBarrier;
  uint32_t ranks = 1;
  bool oversubscribed = false;
  uint64_t bytes = 0;
  std::string variant;
  double isolated_us = 0;
  double back_to_back_us = 0;
  uint64_t calls = 0;
  double wobble = 1;                                       // as RaceResult's
  std::shared_ptr<const schedule::Nodes> nodes = nullptr;  // nullptr: all ranks are on one

  double us() const;  // the geometric mean of both timings
  uint32_t node_count() const { return nodes == nullptr ? 1 : nodes->count(); }
  uint32_t ranks_a_node() const { return nodes == nullptr ? ranks : nodes->most(); }
};

struct TuneCell {
  RaceCell cell;
  double weight = 1;  // its part of the time, compared with others
};

// In which each of the usual cells is measured well: half a minute a core, from one to ten minutes.
double usual_budget_s(uint32_t cores);
// Powers of two up to the cores, the cores themselves, and twice as many, up to 16 at least.
std::vector<uint32_t> usual_ranks(uint32_t cores);

// The cells of one number of ranks in the order in which they are measured: a coarse grid of all collectives first, so
// that a short budget sees a bit of everything.
std::vector<TuneCell> cells_for(const TuneOptions& options, uint32_t ranks);
// How many cells rules can tell apart: sizes that no rule may ask for are one together.
size_t cells_of_rules(const std::vector<TuneCell>& cells);
// For buffers that are long enough for all of them, and short batches.
bench::Options bench_options(const std::vector<TuneCell>& cells);
// The question that such a call puts to the selection.
selection::Query query_of(const TuneOptions& options, uint32_t ranks, const RaceCell& cell);
selection::Query query_of(uint32_t ranks, bool oversubscribed, const schedule::Nodes* nodes, const RaceCell& cell);

struct Survey {
  std::vector<Measurement> measurements;
  size_t cells = 0;  // that were to be measured
  size_t cells_measured = 0;
  std::string mpi;   // under which; "": none
  std::string wire;  // what tables call it
  double took_s = 0;
};

// What settings of the environment force would be measured instead of what is asked for: they are taken away.
void forget_forced_settings();
// A measuring part of the ranks gets so long, given what else is to be done.
double weight_of(const TuneOptions& options, uint32_t ranks);

// Stops when the budget, less `reserve_s`, is spent. Errors: a rank that failed, a wrong result (said on stderr).
Result<Survey> survey(const TuneOptions& options, Progress& progress, double reserve_s);

// Of the best in each cell, the median wobble: differences below it mean nothing. At least kNoise, at most 1.5.
double noise_of(const std::vector<Measurement>& measurements);
// The measurements of a cell together.
std::vector<MeasuredCell> by_cell(const std::vector<Measurement>& measurements);

}  // namespace hocket::command
