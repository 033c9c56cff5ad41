// SPDX-License-Identifier: BSD-3-Clause
// The parameters of the cost model that agree best with what was measured, and how well the model then does.
//
// Thread safety: pure functions, but for the clock that ends the search.
#pragma once

#include <vector>

#include "selection/cost_model.h"
#include "tune/measure.h"

namespace hocket::command {

struct Fit {
  simulation::CostParameters parameters;
  size_t measurements = 0;  // that it was made from
  // Predicted over measured time: as a geometric mean, off by this factor.
  double off_by = 1;
  // Over all measured cells: how much longer the algorithm with the best prediction takes than the best one, as a
  // geometric mean of the factors.
  double costs = 1;
  size_t cells = 0;
};

// Stops after `limit_s`, with the best that was found so far.
Fit fit_model(const TuneOptions& options, const std::vector<Measurement>& measurements, double limit_s);
// How well the table's own parameters do: nothing is searched.
Fit judge_model(const selection::Table& table, const std::vector<Measurement>& measurements);

}  // namespace hocket::command
