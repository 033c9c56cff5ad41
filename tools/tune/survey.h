// SPDX-License-Identifier: BSD-3-Clause
// What each rank of a survey does, whatever started it: races the candidates of all cells, in the time that is left.
//
// Thread safety: none. Collective over the world.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/endpoint.h"
#include "tune/measure.h"

namespace hocket::command {

struct Surveying {
  bench::World& world;
  bench::Endpoint& endpoint;
  Progress& progress;  // rank 0's counts
  double until_s = 0;  // by that
  bool oversubscribed = false;
  std::shared_ptr<const schedule::Nodes> nodes = nullptr;  // nullptr: one
  bench::Variant* mpi = nullptr;                           // the MPI's own collectives, if they race, too
  // By which the parts of compositions are chosen that their names leave open: what the endpoint's ranks have.
  const selection::Table* table = nullptr;
  std::function<void(const Measurement&)> report = {};  // on rank 0
};

// False after having said on stderr what went wrong: peers may wait for this rank.
bool survey_cells(const Surveying& surveying, const bench::Options& options, const std::vector<TuneCell>& cells);

}  // namespace hocket::command
